// Runs `pawl test`: finds the files, runs every test, and reports failed expectations.

import { globSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import type { ActionDefinition } from '../action/action.ts';
import { compileDefinition } from '../core/definition/compile.ts';
import { issueMessage } from '../core/definition/issue-message.ts';
import { loadUserActions, testWorkflow } from '../main.ts';
import { mismatches, type TestFile, testFile } from '../testing/test-file.ts';
import { EXIT, UsageError } from './exit.ts';
import { offerOwnModules } from './file/action-imports.ts';
import { readDefinitionFile } from './file/definition-file.ts';
import { printable } from './file/line-map.ts';
import { reasonUnread } from './file/unreadable.ts';
import { explained } from './start-problem.ts';
import { judge, toText } from './terminal/definition-report.ts';
import { paintOn, printJson } from './terminal/terminal.ts';

interface TestVerdict {
  readonly name: string;
  readonly ok: boolean;
  /** The failed expectations. */
  readonly problems: readonly string[];
}

interface FileVerdict {
  readonly file: string;
  readonly ok: boolean;
  readonly tests: readonly TestVerdict[];
}

export async function runTests(
  names: readonly string[],
  flags: { readonly actions?: string; readonly json?: boolean },
): Promise<number> {
  const files = (names.length === 0 ? ['.'] : names).flatMap(testFilesOf);
  offerOwnModules();
  const verdicts: FileVerdict[] = [];
  for (const file of files) {
    const verdict = await explained(() => runFile(file, flags.actions));
    if (flags.json !== true) process.stdout.write(report(verdict));
    verdicts.push(verdict);
  }
  const ok = verdicts.every((verdict) => verdict.ok);
  if (flags.json === true) printJson({ ok, files: verdicts });
  else process.stdout.write(conclusion(verdicts));
  return ok ? EXIT.ok : EXIT.failed;
}

const TEST_FILE = /\.test\.(json|yaml|yml)$/;

function testFilesOf(name: string): string[] {
  if (statSync(name, { throwIfNoEntry: false })?.isDirectory() !== true) return [name];
  const exclude = (path: string) => path.split('/').includes('node_modules');
  const files = globSync(join(name, '**/*.test.{json,yaml,yml}'), { exclude }).sort();
  if (files.length === 0)
    throw new UsageError(`there is no test in ${printable(name)}: tests are named *.test.json or *.test.yaml`);
  return files;
}

async function runFile(file: string, actionsFolder: string | undefined): Promise<FileVerdict> {
  const read = readTestFile(file);
  const folder = actionsFolder ?? (read.actions === undefined ? undefined : join(dirname(file), read.actions));
  const actions = folder === undefined ? [] : await loadUserActions(folder);
  const definition = readWorkflow(workflowOf(file, read));
  const tests: TestVerdict[] = [];
  for (const test of read.tests) {
    const problems = await problemsOf(definition, test, actions);
    tests.push({ name: test.name, ok: problems.length === 0, problems });
  }
  return { file, ok: tests.every(({ ok }) => ok), tests };
}

async function problemsOf(
  definition: object,
  { name: _name, expect, ...test }: TestFile['tests'][number],
  actions: readonly ActionDefinition[],
): Promise<string[]> {
  try {
    return mismatches(await testWorkflow(definition, { ...test, actions }), expect);
  } catch (error) {
    return [(error as Error).message];
  }
}

// ── Files ───────────────────────────────────────────────────────────────────────────────────────────────────────────

function readTestFile(file: string): TestFile {
  const result = testFile.safeParse(parsed(file));
  if (result.success) return result.data;
  const problems = result.error.issues.map(
    (issue) => `\n  - ${issue.path.join('.') || 'the file'}: ${issueMessage(issue)}`,
  );
  throw new UsageError(`${printable(file)} is not a test file:${problems.join('')}`);
}

function parsed(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${printable(file)}: ${reasonUnread(error)}`);
  }
  try {
    // JSON is YAML, so one parser reads both.
    return parseYaml(text);
  } catch (error) {
    throw new UsageError(`${printable(file)}: ${(error as Error).message}`);
  }
}

function workflowOf(file: string, { workflow }: TestFile): string {
  if (workflow !== undefined) return join(dirname(file), workflow);
  if (!TEST_FILE.test(file)) throw new UsageError(`${printable(file)} does not say which \`workflow\` it tests`);
  return join(dirname(file), basename(file).replace(TEST_FILE, '.json'));
}

function readWorkflow(name: string): object {
  const read = readDefinitionFile(name);
  if (read.kind === 'unreadable') throw new UsageError(`cannot read the workflow ${printable(name)}: ${read.reason}`);
  if (read.kind === 'json' && compileDefinition(read.source.value).ok) return read.source.value as object;
  throw new UsageError(`the workflow is not valid:\n${toText(judge(read))}`);
}

// ── Words ───────────────────────────────────────────────────────────────────────────────────────────────────────────

function report({ file, tests }: FileVerdict): string {
  const paint = paintOn(process.stdout);
  const lines = tests.flatMap(({ name, ok, problems }) => [
    `  ${ok ? paint('green', '✓') : paint('red', '✗')} ${printable(name)}`,
    ...problems.map((problem) => `      ${paint('red', printable(problem))}`),
  ]);
  return `${printable(file)}\n${lines.join('\n')}\n`;
}

function conclusion(verdicts: readonly FileVerdict[]): string {
  const tests = verdicts.flatMap((verdict) => verdict.tests);
  const failed = tests.filter(({ ok }) => !ok).length;
  const paint = paintOn(process.stdout);
  const all = tests.length === 1 ? '1 test' : `${tests.length} tests`;
  return `\n${failed === 0 ? paint('green', `${all} passed`) : paint('red', `${failed} of ${all} failed`)}\n`;
}
