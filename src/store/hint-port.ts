// Hints between processes: "there may be work", "mail came for this execution". They make things quick and nothing more:
// one that is lost costs a poll interval (I11), one too many costs a query. Never part of a commit.

export type Hint =
  | { readonly kind: 'work'; readonly lanes?: readonly HintedLane[] | undefined }
  | { readonly kind: 'mail'; readonly executionId: string }
  /** Attempts wait for workers of these task queues. */
  | { readonly kind: 'attempts'; readonly taskQueues: readonly string[] }
  /** Messages wait for these consumers. */
  | { readonly kind: 'deliveries'; readonly consumerIds: readonly string[] }
  /** Another process has written these notices. */
  | { readonly kind: 'notices'; readonly noticeIds: readonly string[] };

/** Where there is work, and how much at most. */
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

/** The same lane twice is one lane with more in it. */
export function addLanes(known: readonly HintedLane[], more: readonly HintedLane[]): HintedLane[] {
  const lanes = new Map<string, HintedLane>();
  for (const lane of [...known, ...more]) {
    const key = `${lane.priority}:${lane.tenantId}`;
    lanes.set(key, { ...lane, count: lane.count + (lanes.get(key)?.count ?? 0) });
  }
  return [...lanes.values()];
}

export interface Hints {
  /** Returns at once. What is sent within a few milliseconds travels together. */
  send(hint: Hint): void;
  /** False: notifications do not arrive here (a transaction pooler drops them silently), so latency is the poll interval. */
  readonly delivering: boolean;
  close(): Promise<void>;
}
