// The numbers of a run, for people.

import type { Takeover } from './takeover.ts';
import { describeViolation, type Violation } from './violation.ts';

export interface ChaosReport {
  readonly seed: string;
  readonly violations: readonly Violation[];
  readonly executions: number;
  readonly acks: number;
  readonly asksRepeated: number;
  readonly kills: number;
  readonly gracefulStops: number;
  readonly pauses: number;
  readonly failedStarts: number;
  readonly restarts: Readonly<Record<string, number>>;
  readonly effects: number;
  readonly duplicateEffects: number;
  readonly unaskedEffects: number;
  /** Counts by fault and statement. */
  readonly cuts: Readonly<Record<string, number>>;
  readonly metrics: Readonly<Record<string, number>>;
  readonly warnings: Readonly<Record<string, { count: number; example: unknown }>>;
  /** The quickest first. */
  readonly takeovers: readonly Takeover[];
  /** Counts by kind. */
  readonly strayMail: Readonly<Record<string, number>>;
  readonly healedMs: number;
}

const SHOWN_PER_INVARIANT = 4;

export function formatReport(report: ChaosReport): string {
  const { metrics, violations } = report;
  const takeoverMs = report.takeovers.map(({ ms }) => ms);
  const slowest = report.takeovers.at(-1);
  const rows: [string, string | number][] = [
    ['seed', report.seed],
    ['executions asked for / acknowledgements', `${report.executions} / ${report.acks}`],
    ['questions asked again', report.asksRepeated],
    ['kills / graceful stops / pauses', `${report.kills} / ${report.gracefulStops} / ${report.pauses}`],
    ['runner starts that found no database', report.failedStarts],
    ['database restarts', pairs(report.restarts)],
    ['connections cut or delayed', pairs(byFault(report.cuts))],
    [
      'commits cut after the server had applied them',
      sum(report.cuts, /^cut(After|During|Late) execution_commit\w* done$/),
    ],
    ['commits cut before', sum(report.cuts, /^cutBefore execution_commit\w*$/)],
    ['unknown commits sent again', metrics.unknownCommitsResent ?? 0],
    ['… that had been applied already', metrics.unknownCommitsApplied ?? 0],
    ['zombie writes rejected', metrics.zombieWritesRejected ?? 0],
    ['takeovers', metrics.takeovers ?? 0],
    [
      'takeover ms p50 / p99 / max',
      `${[0.5, 0.99, 1].map((share) => quantile(takeoverMs, share)).join(' / ')} of ${takeoverMs.length}`,
    ],
    ['the slowest', slowest?.executionId ?? '–'],
    ['transitions in batches', `${metrics.committedTransitions ?? 0} in ${metrics.committedBatches ?? 0}`],
    ['effects at the sink / duplicates', `${report.effects} / ${report.duplicateEffects}`],
    ['effects that came while the database was away', report.unaskedEffects],
    ['messages left behind by executions that ended', pairs(report.strayMail)],
    ['calm after ms', report.healedMs],
    ['violations', violations.length],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
  const warned = Object.entries(report.warnings).map(
    ([event, { count, example }]) => `  warning ×${count}: ${event} ${JSON.stringify(example).slice(0, 160)}`,
  );
  return [...lines, ...warned, ...violationLines(violations)].join('\n');
}

/** A few violations of each kind, because one cause breaks many executions in the same way. */
export function violationLines(violations: readonly Violation[]): string[] {
  return [...Map.groupBy(violations, ({ invariant }) => invariant)].flatMap(([invariant, all]) => {
    const more = all.length - SHOWN_PER_INVARIANT;
    const shown = all.slice(0, SHOWN_PER_INVARIANT).map(describeViolation);
    return more > 0 ? [...shown, `… and ${more} more of ${invariant}`] : shown;
  });
}

const pairs = (record: Readonly<Record<string, number>>): string =>
  Object.entries(record)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ') || 'none';

/** Without the lines that say what happened to the statement of a cut. */
function byFault(cuts: Readonly<Record<string, number>>): Record<string, number> {
  const faults: Record<string, number> = {};
  for (const [name, count] of Object.entries(cuts)) {
    const [fault, , ending] = name.split(' ');
    if (ending === undefined) faults[fault!] = (faults[fault!] ?? 0) + count;
  }
  return faults;
}

function sum(cuts: Readonly<Record<string, number>>, pattern: RegExp): number {
  return Object.entries(cuts).reduce((total, [name, count]) => (pattern.test(name) ? total + count : total), 0);
}

function quantile(sorted: readonly number[], share: number): string {
  const value = sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return value === undefined ? '–' : String(Math.round(value));
}
