// Event waits of executions. A row is written before its wait is durable. A leftover row does no harm: it only brings mail that
// nobody waits for (I10). Part of the storage port (port.ts).

export interface EventWaitRow {
  tenantId: string;
  eventType: string;
  /** `path=value`; empty: every event of the type. */
  key: string;
  executionId: string;
  nodeId: string;
}

export interface EventWaitStore {
  /** Existing rows stay as they are, and an ended execution gets none. */
  eventWaitAdd(params: { waits: readonly EventWaitRow[] }): Promise<void>;
  /** Waits for an event with one of these keys, ordered by execution and node, after the given one. */
  eventWaitMatch(params: {
    tenantId: string;
    eventType: string;
    keys: readonly string[];
    after: { executionId: string; nodeId: string } | null;
    limit: number;
  }): Promise<{ executionId: string; nodeId: string }[]>;
  /** The executions have ended. One that is live again keeps its rows. */
  eventWaitDrop(params: { executionIds: readonly string[] }): Promise<void>;
}
