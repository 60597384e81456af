// `pawl validate FILE…`: reports all problems of definitions. A folder stands for the definitions below it. Exit code 0 if all
// are valid, 1 if one has problems, 2 if one cannot be read.

import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { detectFormat } from '../../core/definition/compile.ts';
import { withoutConfiguration } from '../configuration.ts';
import { EXIT, UsageError } from '../exit.ts';
import { type DefinitionText, readDefinitionFile } from '../file/definition-file.ts';
import { actionsWith } from '../file/known-actions.ts';
import { lifecycleFile } from '../file/lifecycle-file.ts';
import { printable } from '../file/line-map.ts';
import { explained } from '../start-problem.ts';
import {
  count,
  judge,
  reportDefinition,
  reportUnreadable,
  toJson,
  toText,
  type Verdict,
} from '../terminal/definition-report.ts';
import { paintOn, printJson } from '../terminal/terminal.ts';

interface ValidateFlags {
  readonly json?: boolean;
  readonly actions?: string;
}

export function register(program: Command): void {
  withoutConfiguration(program.command('validate'))
    .description(
      'check definitions (graph, pipeline, execution plan, lifecycle, policies) and print every problem in them',
    )
    .argument('<file...>', 'definitions, JSON files; folders and patterns of them; - for standard input')
    .option('--actions <folder>', 'a folder with your own actions')
    .option('--json', 'print { ok, format, problems } instead of text; { ok, files } for several files')
    .addHelpText('after', EXAMPLES)
    .action(async (files: string[], flags: ValidateFlags) => {
      process.exitCode = await validate(files, flags);
    });
}

const EXAMPLES = `
Examples:
  pawl validate flow.json
  pawl validate workflows/ --actions actions/
  pawl validate 'workflows/**/*.json' --json
  generate-flow | pawl validate -`;

async function validate(names: readonly string[], flags: ValidateFlags): Promise<number> {
  const asJson = flags.json === true;
  const actions = await explained(() => actionsWith(flags.actions));
  const [name] = names;
  if (names.length === 1 && !standsForSeveral(name!)) {
    return reportDefinition(readDefinitionFile(name!), { asJson, actions, lifecycles: true });
  }
  return validateAll(names.flatMap(filesOf), { asJson, actions });
}

// ── Several of them ─────────────────────────────────────────────────────────────────────────────────────────────────

const PATTERN = /[*?[{]/;
const isFolder = (name: string): boolean => statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;
const isThere = (name: string): boolean => statSync(name, { throwIfNoEntry: false }) !== undefined;
const standsForSeveral = (name: string): boolean => isFolder(name) || (PATTERN.test(name) && !isThere(name));

/** `pawl test` reads these. */
const isWorkflowTest = (path: string): boolean => /\.test\.(json|ya?ml)$/.test(path);

interface Found {
  readonly name: string;
  /** false: the file was found in a folder, and other JSON may lie there. */
  readonly isMeant: boolean;
}

function filesOf(name: string): Found[] {
  if (!standsForSeveral(name)) return [{ name, isMeant: true }];
  const pattern = isFolder(name) ? join(name, '**/*.json') : name;
  const exclude = (path: string) => path.split('/').includes('node_modules');
  const files = globSync(pattern, { exclude })
    .filter((path) => !isWorkflowTest(path))
    .sort();
  if (files.length === 0) throw new UsageError(`there is no JSON file in ${printable(name)}`);
  return files.map((file) => ({ name: file, isMeant: !isFolder(name) }));
}

function validateAll(
  files: readonly Found[],
  { asJson, actions }: { asJson: boolean; actions: ReadonlySet<string> },
): number {
  const verdicts: Verdict[] = [];
  let code: number = EXIT.ok;
  for (const { name, isMeant } of files) {
    const read = readDefinitionFile(name);
    if (read.kind === 'unreadable') code = reportUnreadable(read);
    else if (isMeant || looksLikeDefinition(read)) verdicts.push(judge(read, { actions, lifecycles: true }));
    else if (!asJson) process.stdout.write(`– ${printable(name)}: not a definition\n`);
  }
  const ok = code === EXIT.ok && verdicts.every((verdict) => verdict.ok);
  if (asJson) printJson({ ok, files: verdicts.map((verdict) => ({ file: verdict.file.name, ...toJson(verdict) })) });
  else process.stdout.write(`${verdicts.map(toText).join('')}${conclusion(verdicts)}`);
  return code === EXIT.ok && !ok ? EXIT.failed : code;
}

/** A file that is not JSON may still have been meant as a definition. */
function looksLikeDefinition(read: DefinitionText): boolean {
  if (read.kind !== 'json') return true;
  return detectFormat(read.source.value) !== null || lifecycleFile(read.source.value) !== null;
}

function conclusion(verdicts: readonly Verdict[]): string {
  const wrong = verdicts.filter(({ ok }) => !ok).length;
  const paint = paintOn(process.stdout);
  const all = count(verdicts.length, 'definition') || 'no definitions';
  return `\n${wrong === 0 ? paint('green', `${all}, all valid`) : paint('red', `${all}, ${wrong} not valid`)}\n`;
}
