// Hints between processes: "there may be work", "mail came for this execution". They make things quick and nothing more:
// one that is lost costs a poll interval (I11), one too many costs a query. Never part of a commit.

export type Hint =
  | { readonly kind: 'work'; readonly lanes?: readonly HintedLane[] | undefined }
  | { readonly kind: 'mail'; readonly executionId: string };

/** Where there is work. Known only to the process that put it there: others look for themselves. */
export interface HintedLane {
  readonly tenantId: string;
  readonly priority: number;
}

export interface Hints {
  /** Returns at once. What is sent within a few milliseconds travels together. */
  send(hint: Hint): void;
  /** False: notifications do not arrive here (a transaction pooler drops them silently), so latency is the poll interval. */
  readonly delivering: boolean;
  close(): Promise<void>;
}
