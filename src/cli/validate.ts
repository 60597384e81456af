// `pawl validate FILE`: is this definition valid, and if not, what is wrong with it, everything at once. Exit code 0 if it
// is, 1 if it has problems, 2 if the file cannot be read.

import type { Command } from 'commander';
import { terminalPreferences } from '../config.ts';
import { type CompileResult, compileDefinition } from '../core/definition/compile.ts';
import type { Problem } from '../core/definition/problem.ts';
import type { Format, Plan } from '../core/plan/plan.ts';
import { type DefinitionFile, type FileProblem, readDefinitionFile } from './definition-file.ts';
import { EXIT } from './exit.ts';
import type { JsonSource } from './json-source.ts';
import { knownActions } from './known-actions.ts';
import { judgeLifecycle, type LifecycleFile, lifecycleFile } from './lifecycle-file.ts';
import { LineMap, printable } from './line-map.ts';
import { coloured, type Paint, plain, reportProblem } from './problem-report.ts';

/** Problems that are about a name rather than about what it stands for. */
const KEY_PROBLEMS: ReadonlySet<string> = new Set([
  'UNKNOWN_KEY',
  'FORBIDDEN_KEY',
  'IGNORED_FIELD',
  'STEP_TYPE_CONFLICT',
]);

const FORMAT_NAMES: Readonly<Record<Format, string>> = {
  graph: 'graph workflow',
  pipeline: 'pipeline',
  plan: 'execution plan',
};

interface Verdict {
  readonly ok: boolean;
  readonly format: Format | LifecycleFile['format'] | null;
  readonly problems: FileProblem[];
  /** E.g. "pipeline `orders`, 4 nodes"; only of what is right. */
  readonly summary: string;
}

export function registerValidate(program: Command): void {
  program
    .command('validate')
    .description(
      'check a definition (graph, pipeline, execution plan, lifecycle or policies) and print every problem in it',
    )
    .argument('<file>', 'the definition, a JSON file')
    .option('--json', 'print { ok, format, problems } instead of text')
    .action((file: string, options: { json?: boolean }) => {
      process.exitCode = validate(file, options.json === true);
    });
}

/** `actions`: the known action types; without a running engine, those that come with Pawl. */
export function validate(fileName: string, asJson: boolean, actions: ReadonlySet<string> = knownActions): number {
  const read = readDefinitionFile(fileName);
  if (read.kind === 'unreadable') {
    process.stderr.write(`pawl: cannot read ${printable(fileName)}: ${read.reason}\n`);
    return EXIT.usage;
  }
  const lines = new LineMap(read.file.text);
  const verdict = read.kind === 'bad' ? refused(read.problems) : judge(read.source, actions);
  const problems = verdict.problems.map((problem) => withPosition(problem, lines)).sort(byPosition);
  process.stdout.write(asJson ? toJson(verdict, problems) : toText(verdict, problems, read.file, lines));
  return verdict.ok ? EXIT.ok : EXIT.failed;
}

function refused(problems: FileProblem[]): Verdict {
  return { ok: false, format: null, problems, summary: '' };
}

function judge(source: JsonSource, actions: ReadonlySet<string>): Verdict {
  const lifecycle = lifecycleFile(source.value);
  const { problems, ...verdict } =
    lifecycle === null ? judgeWorkflow(source.value, actions) : judgeLifecycle(lifecycle);
  return {
    ...verdict,
    problems: problems.map((problem) => {
      return { ...problem, span: source.locate(problem.path, KEY_PROBLEMS.has(problem.code) ? 'key' : 'value') };
    }),
  };
}

function judgeWorkflow(definition: unknown, actions: ReadonlySet<string>): Verdict {
  const result: CompileResult = compileDefinition(definition, { actions });
  const { ok, format } = result;
  if (!result.ok) return { ok, format, problems: result.problems, summary: '' };
  return { ok, format, problems: result.warnings, summary: describePlan(result.format, result.plan) };
}

const describePlan = (format: Format, { id, nodes }: Plan): string =>
  `${FORMAT_NAMES[format]} \`${id}\`, ${count(nodes.length, 'node')}`;

function withPosition(problem: FileProblem, lines: LineMap): FileProblem {
  return problem.span === undefined ? problem : { ...problem, ...lines.position(problem.span.start) };
}

function byPosition(a: FileProblem, b: FileProblem): number {
  return (a.span?.start ?? 0) - (b.span?.start ?? 0);
}

function toJson({ ok, format }: Verdict, problems: FileProblem[]): string {
  const shown = problems.map(({ span: _span, ...problem }): Problem => problem);
  return `${JSON.stringify({ ok, format, problems: shown }, null, 2)}\n`;
}

function toText(verdict: Verdict, problems: FileProblem[], file: DefinitionFile, lines: LineMap): string {
  const paint: Paint = terminalPreferences(process.stdout).colour ? coloured : plain;
  const reports = problems.map((problem) => `${reportProblem(problem, file.name, lines, paint)}\n\n`);
  return `${reports.join('')}${summary(verdict, problems, file.name, paint)}\n`;
}

function summary({ ok, summary: what }: Verdict, problems: FileProblem[], fileName: string, paint: Paint): string {
  const warnings = problems.filter((problem) => problem.severity === 'warning').length;
  const found = [count(problems.length - warnings, 'problem'), count(warnings, 'warning')].filter(
    (text) => text !== '',
  );
  const name = printable(fileName);
  if (!ok) return `${paint('red', '✗')} ${name}: ${found.join(' and ')}`;
  return `${paint('green', '✓')} ${name}: valid ${[what, ...found].join(', ')}`;
}

function count(number: number, noun: string): string {
  if (number === 0) return '';
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
