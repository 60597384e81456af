// The consumers of a message, as the trigger service needs them while it decides: without waiting, and with the generation of the
// answers. src/delivery keeps the directory. A write is refused when the generation has changed since the decision.

export interface ConsumerDirectory {
  /** The generation of the answers below; '' before the first refresh. */
  readonly generation: string;
  refresh(): Promise<void>;
  /** Ids of the consumers whose subscriptions match. */
  subscribers(
    tenantId: string,
    message: {
      readonly kind: 'transition';
      readonly env: string;
      readonly definition: string;
      readonly event: string;
    },
  ): readonly string[];
  idOf(tenantId: string, code: string): string | null;
  /** The consumer that starts workflows; null: this process does not know it yet, and `ensureBuiltIn` creates it. */
  builtInId(tenantId: string, kind: 'workflow'): string | null;
  ensureBuiltIn(tenantId: string, kind: 'workflow'): Promise<void>;
  /** Creates a placeholder for every unregistered code; messages to it wait. */
  ensureCodes(tenantId: string, codes: readonly string[]): Promise<void>;
}
