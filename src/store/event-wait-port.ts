// Waits of executions for events. A row is written before the wait it stands for is durable, and one that is left over does no harm:
// what it brings is mail that nobody waits for (I10). Part of the one door to storage (port.ts).

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
  /** Those that wait for an event with one of these keys, in the order of executions and nodes, after the given one. */
  eventWaitMatch(params: {
    tenantId: string;
    eventType: string;
    keys: readonly string[];
    after: { executionId: string; nodeId: string } | null;
    limit: number;
  }): Promise<{ executionId: string; nodeId: string }[]>;
  /** The executions have ended. One that is live again keeps its own. */
  eventWaitDrop(params: { executionIds: readonly string[] }): Promise<void>;
}
