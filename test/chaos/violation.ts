// A violation that a run found: which promise, for which execution, and the rows that show it.

export interface Violation {
  /** The id of an invariant: `I3`. */
  readonly invariant: string;
  readonly executionId: string | null;
  readonly what: string;
  readonly evidence?: unknown;
  /** The owners of the execution, from its start on. */
  readonly owners?: readonly unknown[];
}

const EVIDENCE_LENGTH = 1_500;

export function describeViolation({ invariant, executionId, what, evidence, owners }: Violation): string {
  const where = executionId === null ? '' : ` ${executionId}`;
  return `${invariant}${where}: ${what}${rowsOf(evidence)}${rowsOf(owners)}`;
}

function rowsOf(rows: unknown): string {
  return rows === undefined ? '' : `\n    ${JSON.stringify(rows).slice(0, EVIDENCE_LENGTH)}`;
}
