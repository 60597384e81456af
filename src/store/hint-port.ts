// Hints between processes: "there may be work", "this execution has mail". They only make things quick: a lost hint costs a poll
// interval (I11), a superfluous one a query. Never part of a commit.

export type Hint =
  | { readonly kind: 'work'; readonly lanes?: readonly HintedLane[] | undefined }
  | { readonly kind: 'mail'; readonly executionId: string }
  /** Attempts wait for workers of these task queues. */
  | { readonly kind: 'attempts'; readonly taskQueues: readonly string[] }
  /** Messages wait for these consumers. */
  | { readonly kind: 'deliveries'; readonly consumerIds: readonly string[] }
  /** Another process has written these notices. */
  | { readonly kind: 'notices'; readonly noticeIds: readonly string[] };

/** The lane of work, and how much there is at most. */
export interface HintedLane {
  readonly tenantId: string;
  readonly priority: number;
  readonly count: number;
}

/** The lanes of executions that became ready together. */
export function hintedLanes(ready: readonly Pick<HintedLane, 'tenantId' | 'priority'>[]): HintedLane[] {
  return addLanes(
    [],
    ready.map(({ tenantId, priority }) => ({ tenantId, priority, count: 1 })),
  );
}

/** Merges equal lanes. */
export function addLanes(known: readonly HintedLane[], more: readonly HintedLane[]): HintedLane[] {
  const lanes = new Map<string, HintedLane>();
  for (const lane of [...known, ...more]) {
    const key = `${lane.priority}:${lane.tenantId}`;
    lanes.set(key, { ...lane, count: lane.count + (lanes.get(key)?.count ?? 0) });
  }
  return [...lanes.values()];
}

export interface Hints {
  /** Returns at once. Hints within a few milliseconds travel together. */
  send(hint: Hint): void;
  /** false: notifications do not arrive (a transaction pooler drops them silently), so latency is the poll interval. */
  readonly delivering: boolean;
  close(): Promise<void>;
}
