// Reports whether a definition is valid, with all problems: as text, each in its line, or as JSON.

import { compileDefinition } from '../../core/definition/compile.ts';
import type { Json } from '../../core/json/json.ts';
import type { Format } from '../../core/plan/plan.ts';
import type { Problem } from '../../core/problem/problem.ts';
import { EXIT } from '../exit.ts';
import type { DefinitionFile, DefinitionText, FileProblem } from '../file/definition-file.ts';
import type { JsonSource, Span } from '../file/json-source.ts';
import { builtInActions, builtInOutputs, mayBeElsewhere, parameterWarnings } from '../file/known-actions.ts';
import { judgeLifecycle, type LifecycleFile, lifecycleFile } from '../file/lifecycle-file.ts';
import { LineMap, printable } from '../file/line-map.ts';
import { reportProblem } from './problem-report.ts';
import { type Paint, paintOn, printJson } from './terminal.ts';

/** Problems that concern a key rather than its value. */
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

export interface Verdict {
  readonly file: DefinitionFile;
  readonly ok: boolean;
  readonly format: Format | LifecycleFile['format'] | null;
  /** With their places, in the order of the file. */
  readonly problems: readonly FileProblem[];
  /** A summary of a valid definition, e.g. "pipeline `orders`, 4 nodes". */
  readonly what: string;
}

export interface JudgeOptions {
  /** The known action types; without a running engine, the built-in ones. */
  readonly actions?: ReadonlySet<string>;
  /** The problems that a server reported. */
  readonly refused?: readonly Problem[];
  /** The file may also contain a lifecycle or its policies. */
  readonly lifecycles?: boolean;
}

type Readable = Exclude<DefinitionText, { kind: 'unreadable' }>;

export function judge(read: Readable, options: JudgeOptions = {}): Verdict {
  const { file } = read;
  if (read.kind === 'bad') return placed({ file, ok: false, format: null, what: '', problems: read.problems });
  const { problems, ...verdict } = judgeValue(read.source.value, options);
  return placed({ file, ...verdict, problems: problems.map((problem) => located(problem, read.source, file.text)) });
}

function judgeValue(value: unknown, options: JudgeOptions): Omit<Verdict, 'file'> {
  const { actions = builtInActions, refused, lifecycles = false } = options;
  const lifecycle = lifecycleFile(value);
  if (lifecycle !== null && lifecycles) return judgeLifecycle(lifecycle);
  const result = compileDefinition(value, {
    actions,
    outputFields: builtInOutputs,
    mayBeElsewhere: (type) => mayBeElsewhere(type, actions),
  });
  const { format } = result;
  if (!result.ok) {
    const suggestion = 'this is about a lifecycle: see `pawl lifecycle import`';
    const hint = (problem: Problem) => (lifecycle === null ? problem : { ...problem, suggestion });
    return { ok: false, format, problems: result.problems.map(hint), what: '' };
  }
  const { id, nodes } = result.plan;
  const what = `${FORMAT_NAMES[result.format]} \`${id}\`, ${count(nodes.length, 'node')}`;
  const problems = refused ?? [...result.warnings, ...parameterWarnings(value as Json)];
  return { ok: refused === undefined, format, problems, what };
}

/** The exit code of a command that could go no further because of its file. */
export function reportDefinition(
  read: DefinitionText,
  { asJson, ...options }: JudgeOptions & { readonly asJson: boolean },
): number {
  if (read.kind === 'unreadable') return reportUnreadable(read);
  const verdict = judge(read, options);
  if (asJson) printJson(toJson(verdict));
  else process.stdout.write(toText(verdict));
  return verdict.ok ? EXIT.ok : EXIT.failed;
}

export function reportUnreadable({ name, reason }: { name: string; reason: string }): number {
  process.stderr.write(`pawl: cannot read ${printable(name)}: ${reason}\n`);
  return EXIT.usage;
}

export function toJson({ ok, format, problems }: Verdict): Pick<Verdict, 'ok' | 'format'> & { problems: Problem[] } {
  return { ok, format, problems: problems.map(({ span: _span, ...problem }): Problem => problem) };
}

/** For a definition that runs anyway: printed beside the output of the run. */
export function warnOf(read: Extract<DefinitionText, { kind: 'json' }>, warnings: readonly Problem[]): void {
  const { file, source } = read;
  const problems = warnings.map((warning) => located(warning, source, file.text));
  process.stderr.write(reports(placed({ file, ok: true, format: null, what: '', problems }), paintOn(process.stderr)));
}

export function toText(verdict: Verdict): string {
  const paint = paintOn(process.stdout);
  return `${reports(verdict, paint)}${summary(verdict, paint)}\n`;
}

function reports({ file, problems }: Verdict, paint: Paint): string {
  const lines = new LineMap(file.text);
  return problems.map((problem) => `${reportProblem(problem, file.name, lines, paint)}\n\n`).join('');
}

function located(problem: Problem, source: JsonSource, text: string): FileProblem {
  const span = source.locate(problem.path, KEY_PROBLEMS.has(problem.code) ? 'key' : 'value');
  const { line, column } = problem;
  // The caret goes to the place inside the expression, not to the beginning of its string.
  if (line === undefined || column === undefined || text[span.start] !== '"') return { ...problem, span };
  const start = placeInString(text, span, line, column);
  return { ...problem, span: { start, end: start + 1 } };
}

/** Maps a line and column of a string's value to its JSON text. */
function placeInString(text: string, { start, end }: Span, line: number, column: number): number {
  let at = start + 1;
  for (let [row, place] = [1, 1]; at < end - 1 && !(row === line && place === column); ) {
    const isBreak = text.startsWith('\\n', at);
    [row, place] = isBreak ? [row + 1, 1] : [row, place + 1];
    at += text[at] !== '\\' ? 1 : text[at + 1] === 'u' ? 6 : 2;
  }
  return Math.min(at, end - 1);
}

function placed(verdict: Verdict): Verdict {
  const lines = new LineMap(verdict.file.text);
  const problems = verdict.problems
    .map((problem) => (problem.span === undefined ? problem : { ...problem, ...lines.position(problem.span.start) }))
    .sort((a, b) => (a.span?.start ?? 0) - (b.span?.start ?? 0));
  return { ...verdict, problems };
}

function summary({ file, ok, what, problems }: Verdict, paint: Paint): string {
  const warnings = problems.filter((problem) => problem.severity === 'warning').length;
  const found = [count(problems.length - warnings, 'problem'), count(warnings, 'warning')].filter(
    (text) => text !== '',
  );
  const name = printable(file.name);
  if (!ok) return `${paint('red', '✗')} ${name}: ${found.join(' and ')}`;
  return `${paint('green', '✓')} ${name}: valid ${[what, ...found].join(', ')}`;
}

export function count(number: number, noun: string): string {
  if (number === 0) return '';
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
