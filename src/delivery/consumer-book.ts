// All consumers in memory: few rows that every message needs. They are read again when the generation has changed, which the
// monitor sees, and after every change by this process. The generation is read before the rows, so the book is never older than
// its generation, and a decision written under it is right (lifecycle-port.ts).

import type { DeliveryStore } from '../store/delivery-port.ts';
import type { LifecycleStore } from '../store/lifecycle-port.ts';
import { BUILT_IN_CODES, type BuiltInKind, type Consumer, consumerOf } from './consumer.ts';
import { asksForExecutions, matching, type Subject } from './subscription.ts';

export interface ConsumerBookDeps {
  readonly store: Pick<DeliveryStore, 'consumerList' | 'consumerPut'> & Pick<LifecycleStore, 'lifecycleGeneration'>;
  /** Default for consumers that are created here. */
  readonly concurrency: number;
}

interface Page {
  readonly generation: string;
  readonly byId: ReadonlyMap<string, Consumer>;
  readonly byTenant: ReadonlyMap<string, TenantPage>;
}

interface TenantPage {
  readonly all: readonly Consumer[];
  readonly byCode: ReadonlyMap<string, Consumer>;
  /** Consumers that some event of an execution could be for. */
  readonly ofExecutions: readonly Consumer[];
}

const NOBODY: TenantPage = { all: [], byCode: new Map(), ofExecutions: [] };

export class ConsumerBook {
  private readonly deps: ConsumerBookDeps;
  private page: Page = { generation: '', byId: new Map(), byTenant: new Map() };
  private reading: Promise<void> | null = null;
  private next: Promise<void> | null = null;
  private readonly readers = new Set<() => void>();

  constructor(deps: ConsumerBookDeps) {
    this.deps = deps;
  }

  /** The generation of the answers below; '' before the first refresh. */
  get generation(): string {
    return this.page.generation;
  }

  /** Called after every refresh. */
  onRefresh(reader: () => void): void {
    this.readers.add(reader);
  }

  /** Commits before the call are in the book after it. A caller that arrives during a reading shares the next one. */
  refresh(): Promise<void> {
    if (this.next !== null) return this.next;
    if (this.reading === null) return this.read();
    this.next = this.reading
      .catch(() => {})
      .then(() => {
        this.next = null;
        return this.read();
      });
    return this.next;
  }

  all(): Iterable<Consumer> {
    return this.page.byId.values();
  }

  byId(consumerId: string): Consumer | null {
    return this.page.byId.get(consumerId) ?? null;
  }

  byCode(tenantId: string, code: string): Consumer | null {
    return this.of(tenantId).byCode.get(code) ?? null;
  }

  idOf(tenantId: string, code: string): string | null {
    return this.byCode(tenantId, code)?.consumerId ?? null;
  }

  subscribers(tenantId: string, subject: Subject): readonly string[] {
    const { all, ofExecutions } = this.of(tenantId);
    const asked = subject.kind === 'execution' ? ofExecutions : all;
    return matching(asked, subject).map(({ consumerId }) => consumerId);
  }

  /** Whether anybody, of any tenant, asked for events of executions. */
  get wantsExecutions(): boolean {
    for (const { ofExecutions } of this.page.byTenant.values()) if (ofExecutions.length > 0) return true;
    return false;
  }

  asksForExecutions(tenantId: string): boolean {
    return this.of(tenantId).ofExecutions.length > 0;
  }

  /** null: this process does not know it yet, and `ensureBuiltIn` creates it. */
  builtInId(tenantId: string, kind: BuiltInKind): string | null {
    return this.idOf(tenantId, BUILT_IN_CODES[kind]);
  }

  async ensureBuiltIn(tenantId: string, kind: BuiltInKind): Promise<void> {
    if (this.builtInId(tenantId, kind) !== null) return;
    const { concurrency } = this.deps;
    const made = { code: BUILT_IN_CODES[kind], kind, concurrency, onlyNew: true };
    await this.deps.store.consumerPut({ tenantId, ...made });
    await this.refresh();
  }

  /** Creates a placeholder for every unregistered code. Messages to it wait until the consumer is registered. */
  async ensureCodes(tenantId: string, codes: readonly string[]): Promise<void> {
    const missing = codes.filter((code) => this.idOf(tenantId, code) === null);
    if (missing.length === 0) return;
    const { concurrency } = this.deps;
    for (const code of new Set(missing)) {
      await this.deps.store.consumerPut({ tenantId, code, kind: 'pull', concurrency, onlyNew: true });
    }
    await this.refresh();
  }

  private of(tenantId: string): TenantPage {
    return this.page.byTenant.get(tenantId) ?? NOBODY;
  }

  private read(): Promise<void> {
    this.reading = this.turnPage().finally(() => {
      this.reading = null;
    });
    return this.reading;
  }

  private async turnPage(): Promise<void> {
    const generation = await this.deps.store.lifecycleGeneration();
    const rows = await this.deps.store.consumerList({ tenantId: null });
    this.page = pageOf(generation, rows.map(consumerOf));
    for (const reader of this.readers) reader();
  }
}

function pageOf(generation: string, consumers: readonly Consumer[]): Page {
  const byId = new Map(consumers.map((consumer) => [consumer.consumerId, consumer]));
  const tenants = Map.groupBy(consumers, ({ tenantId }) => tenantId);
  const byTenant = new Map<string, TenantPage>();
  for (const [tenantId, all] of tenants) {
    const byCode = new Map(all.map((consumer) => [consumer.code, consumer]));
    const ofExecutions = all.filter(({ subscribed }) => subscribed.some(asksForExecutions));
    byTenant.set(tenantId, { all, byCode, ofExecutions });
  }
  return { generation, byId, byTenant };
}
