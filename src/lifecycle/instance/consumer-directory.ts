// Who gets what, as the trigger service needs to know it while it decides: without waiting, and with the generation that the
// answers belong to. Kept by src/delivery; the write is refused when the generation has moved on meanwhile.

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
  /** The consumer that starts workflows; null: not known here yet, `ensureBuiltIn` makes it so. */
  builtInId(tenantId: string, kind: 'workflow'): string | null;
  ensureBuiltIn(tenantId: string, kind: 'workflow'): Promise<void>;
  /** Creates a placeholder for every unregistered code; messages to it wait. */
  ensureCodes(tenantId: string, codes: readonly string[]): Promise<void>;
}
