// Erasure of a person's or a tenant's data, everywhere at once. A refusal comes before anything is removed.

export interface ErasureStore {
  /**
   * Removes every ended execution, instance, message, letter, firing and notice of the tenant that mentions the person, with
   * all their rows; null: everything of the tenant. Artifacts are hidden at once, and the next sweep removes their bytes. One
   * transaction. While affected executions are live, nothing is removed, and they are named.
   */
  erase(params: { tenantId: string; person: string | null }): Promise<Erased>;
}

export interface Erased {
  /** Not ended yet: cancel them first. At most 100. */
  live: string[];
  counts: Record<(typeof ERASED_KINDS)[number], number>;
}

export const ERASED_KINDS = [
  ...(['executions', 'events', 'attempts', 'logs', 'signals', 'artifacts', 'instances', 'timelineEntries'] as const),
  ...(['messages', 'deliveries', 'firings', 'deadLetters', 'notices', 'failureGroups'] as const),
] as const;
