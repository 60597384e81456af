// An action on many executions: counted, recorded, then done in the background, one page at a time and at most a hundred per
// second. Its progress is in the database, so another process can continue it. Repeated work changes nothing: a cancel is
// idempotent, a signal has the id of its bulk action, a replay the requestId of both.

import type { Timers } from '../clock/timers.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import type { Actor } from '../store/audit-port.ts';
import type { BulkRecord } from '../store/bulk-port.ts';
import type { Store } from '../store/port.ts';
import type { ExecutionFilter } from '../store/reader-port.ts';
import type { ExecutionLists } from './execution-lists.ts';
import type { Executions } from './executions.ts';

export type BulkAction = 'cancel' | 'retry' | 'pause' | 'resume' | 'replay';

/** Ids, or a filter of the list of executions. */
export type BulkSelection =
  | { readonly ids: readonly string[] }
  | { readonly filter: Omit<ExecutionFilter, 'tenantId' | 'beforeId' | 'limit' | 'ids'> };

export interface BulkOrder {
  readonly requestId: string;
  readonly action: BulkAction;
  readonly selection: BulkSelection;
  readonly version: number | null;
  readonly reason: string;
}

export interface BulkActionsDeps {
  readonly store: Store;
  readonly lists: ExecutionLists;
  readonly executions: Executions;
  readonly timers: Timers;
  readonly newId: () => string;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
}

const PAGE = 100;
/** The minimum time of a page: a hundred executions per second. */
const PAGE_MS = 1_000;
const LEASE_MS = 30_000;
const POLL_MS = 10_000;

export class BulkActions {
  private readonly deps: BulkActionsDeps;
  private cancelTimer: (() => void) | null = null;
  private working: Promise<void> = Promise.resolve();
  private isClosed = true;

  constructor(deps: BulkActionsDeps) {
    this.deps = deps;
  }

  start(): void {
    this.isClosed = false;
    this.wake(POLL_MS);
  }

  async stop(): Promise<void> {
    this.isClosed = true;
    this.cancelTimer?.();
    await this.working;
  }

  async count(tenantId: string, selection: BulkSelection): Promise<{ count: number; isCapped: boolean }> {
    return this.deps.lists.count(pageOf(tenantId, selection, null));
  }

  /** `isNew`: false when the requestId already existed. */
  async order(tenantId: string, order: BulkOrder, by: Actor): Promise<{ bulk: BulkRecord; isNew: boolean }> {
    const { store, newId } = this.deps;
    const known = await store.bulkGet({ tenantId, ref: { requestId: order.requestId } });
    if (known !== null) return { bulk: known, isNew: false };
    const { selection, ...about } = order;
    const counted = await this.count(tenantId, selection);
    const id = newId();
    const actor = { actor: by.name, correlationId: by.correlationId ?? null };
    const created = { id, tenantId, ...about, ...actor, selection: JSON.stringify(selection), ...counted };
    const details = { action: order.action, reason: order.reason, selection: selection as unknown as Json, ...counted };
    const isNew = await store.audited({
      tenantId,
      by,
      work: (joined) => joined.bulkCreate(created),
      deed: (made) => (made ? { action: 'bulk.create', target: `bulk/${id}`, details: details as JsonObject } : null),
    });
    const bulk = await store.bulkGet({ tenantId, ref: { requestId: order.requestId } });
    this.wake(0);
    return { bulk: bulk!, isNew };
  }

  async get(tenantId: string, id: string): Promise<BulkRecord> {
    const bulk = await this.deps.store.bulkGet({ tenantId, ref: { id } });
    if (bulk === null) throw new PawlError('BULK_NOT_FOUND', `no bulk action ${id}`);
    return bulk;
  }

  list(tenantId: string, page: { beforeId: string | null; limit: number }): Promise<BulkRecord[]> {
    return this.deps.store.bulkList({ tenantId, ...page });
  }

  /** Finished work is not undone. */
  async halt(tenantId: string, id: string, by: Actor): Promise<BulkRecord> {
    await this.get(tenantId, id);
    await this.deps.store.audited({
      tenantId,
      by,
      work: (joined) => joined.bulkStop({ tenantId, id }),
      deed: (stopped) => (stopped ? { action: 'bulk.stop', target: `bulk/${id}` } : null),
    });
    return this.get(tenantId, id);
  }

  /** Does one page of an action that no process works on; then it is another tenant's turn (I22). false: there is none. */
  async runOnce(): Promise<boolean> {
    const { store, timers } = this.deps;
    const began = timers.monotonicMs();
    const bulk = await store.bulkClaim({ leaseMs: LEASE_MS });
    if (bulk === null) return false;
    const page = await this.page(bulk, bulk.cursor);
    await store.bulkProgress({ id: bulk.id, ...page, leaseMs: 0 });
    const rest = PAGE_MS - (timers.monotonicMs() - began);
    if (!page.isOver && rest > 0) await new Promise<void>((resolve) => timers.after(rest, resolve));
    return true;
  }

  private wake(delayMs: number): void {
    if (this.isClosed) return;
    this.cancelTimer?.();
    this.cancelTimer = this.deps.timers.after(delayMs, () => {
      this.working = this.working.then(() => this.work());
    });
  }

  private async work(): Promise<void> {
    try {
      while (!this.isClosed && (await this.runOnce()));
    } catch (error) {
      this.deps.warn('a bulk action stands still; it is tried again', { error: (error as Error).message });
    }
    this.wake(POLL_MS);
  }

  private async page(bulk: BulkRecord, cursor: string | null) {
    const selection = JSON.parse(bulk.selection) as BulkSelection;
    // Executions that started after the order are not meant.
    const filter = { ...pageOf(bulk.tenantId, selection, cursor), limit: PAGE };
    const createdBefore = Math.min(filter.createdBefore ?? Number.POSITIVE_INFINITY, bulk.createdAt);
    const { ids, searchedTo } = await this.deps.lists.page({ ...filter, createdBefore });
    const counts = { done: 0, failed: 0, skipped: 0, lastError: null as string | null };
    for (const executionId of ids) {
      const outcome = await this.act(bulk, executionId);
      if (outcome.error !== null) counts.lastError = outcome.error;
      counts[outcome.as]++;
    }
    const isOver = ids.length < PAGE && searchedTo === null;
    return { ...counts, cursor: (ids.length < PAGE ? searchedTo : ids.at(-1)) ?? null, isOver };
  }

  private async act(
    bulk: BulkRecord,
    executionId: string,
  ): Promise<{ as: 'done' | 'failed' | 'skipped'; error: string | null }> {
    try {
      await this.apply(bulk, executionId);
      return { as: 'done', error: null };
    } catch (error) {
      if (!(error instanceof PawlError)) throw error;
      const doesNotApply = error.code === 'WFENG002' || error.code === 'EXECUTION_NOT_FOUND';
      return { as: doesNotApply ? 'skipped' : 'failed', error: `${executionId}: ${error.message}` };
    }
  }

  private async apply(bulk: BulkRecord, executionId: string): Promise<unknown> {
    const { executions } = this.deps;
    const { tenantId, id, reason } = bulk;
    const by: Actor = { name: bulk.actor, correlationId: bulk.correlationId ?? id };
    switch (bulk.action as BulkAction) {
      case 'cancel':
        return executions.cancel(tenantId, executionId, reason, by);
      case 'retry':
        return executions.retry(tenantId, executionId, by);
      case 'pause':
        return executions.signal(tenantId, executionId, { signalId: id, type: 'PAUSE', payload: { reason } }, by);
      case 'resume':
        return executions.signal(tenantId, executionId, { signalId: id, type: 'RESUME', payload: {} }, by);
      case 'replay':
        return this.replay(bulk, executionId);
    }
  }

  private async replay({ tenantId, id, version }: BulkRecord, executionId: string): Promise<unknown> {
    const view = await this.deps.executions.get(tenantId, executionId);
    const { workflowId, priority, projectId, environmentId } = view;
    return this.deps.executions.start({
      ...{ tenantId, workflowId, priority, projectId, environmentId },
      requestId: `bulk:${id}:${executionId}`,
      trigger: JSON.parse(view.trigger) as Json,
      ...(view.spec === null ? {} : { spec: JSON.parse(view.spec) as Json }),
      principal: JSON.parse(view.principal) as Json,
      ...(version === null ? {} : { version }),
    });
  }
}

function pageOf(tenantId: string, selection: BulkSelection, beforeId: string | null): ExecutionFilter {
  const chosen = 'ids' in selection ? { ids: selection.ids } : selection.filter;
  return { ...chosen, tenantId, beforeId, limit: PAGE };
}
