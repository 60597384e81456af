// What a run found wrong: which promise, for which execution, and the rows that show it.

export interface Violation {
  /** A number of the invariants' table: `I3`. */
  readonly invariant: string;
  readonly executionId: string | null;
  readonly what: string;
  readonly evidence?: unknown;
}

const EVIDENCE_LENGTH = 1_500;

export function describeViolation({ invariant, executionId, what, evidence }: Violation): string {
  const where = executionId === null ? '' : ` ${executionId}`;
  const rows = evidence === undefined ? '' : `\n    ${JSON.stringify(evidence).slice(0, EVIDENCE_LENGTH)}`;
  return `${invariant}${where}: ${what}${rows}`;
}
