// The live data of dashboards, sampled once per tenant however many look: every two seconds while anybody does. Fifty open tabs
// cost the database no more than one.

import type { Timers } from '../clock/timers.ts';
import type { LiveNow } from '../store/reader-port.ts';
import type { ExecutionLists, ExecutionRow } from './execution-lists.ts';

export interface LiveBoardDeps {
  readonly lists: ExecutionLists;
  readonly timers: Timers;
  readonly sample: (tenantId: string) => Promise<LiveNow>;
  readonly health: () => Promise<LiveHealth>;
  readonly wallClockMs: () => number;
}

export interface LiveHealth {
  readonly status: 'healthy' | 'degraded' | 'unhealthy';
  readonly reasons: readonly string[];
}

export interface LiveSample {
  readonly at: number;
  readonly now: LiveNow;
  readonly health: LiveHealth;
  /** The watched executions. */
  readonly rows: ReadonlyMap<string, ExecutionRow>;
}

const EVERY_MS = 2_000;
/** Fifty tabs that open together, as after a restart of the server, share a few samples. */
const SOONEST_MS = 250;
/** Health costs more queries and changes less often. */
const HEALTH_EVERY_MS = 15_000;
const MAX_WATCHED = 500;

export class LiveBoard {
  private readonly deps: LiveBoardDeps;
  private readonly tenants = new Map<string, TenantBoard>();
  private health: { readonly at: number; readonly hasRunner: boolean; readonly told: Promise<LiveHealth> } | null =
    null;

  constructor(deps: LiveBoardDeps) {
    this.deps = deps;
  }

  /** Takes one sample now. */
  async look(tenantId: string, watch: readonly string[] = []): Promise<LiveSample> {
    const [now, rows] = await Promise.all([this.deps.sample(tenantId), this.deps.lists.rowsOf(tenantId, watch)]);
    const health = await this.healthNow(now.hasRunner);
    return { at: this.deps.wallClockMs(), now, health, rows: new Map(rows.map((row) => [row.executionId, row])) };
  }

  /** Samples as they are taken, until the signal aborts. */
  async *follow(tenantId: string, watch: readonly string[], signal: AbortSignal): AsyncGenerator<LiveSample> {
    const board = this.tenants.get(tenantId) ?? new TenantBoard(this.deps.timers, (ids) => this.look(tenantId, ids));
    this.tenants.set(tenantId, board);
    const leave = board.enter(watch);
    try {
      while (!signal.aborted) {
        const sample = await board.next(signal);
        if (sample !== null) yield sample;
      }
    } finally {
      leave();
      if (board.isEmpty()) this.tenants.delete(tenantId);
    }
  }

  /** Asked again at once when the last runner has gone or the first has come. */
  private healthNow(hasRunner: boolean): Promise<LiveHealth> {
    const at = this.deps.wallClockMs();
    const { health } = this;
    if (health === null || at - health.at >= HEALTH_EVERY_MS || health.hasRunner !== hasRunner)
      this.health = { at, hasRunner, told: this.deps.health() };
    return this.health!.told;
  }
}

/** One tenant's samples, shared by all viewers. There is one timer at a time. */
class TenantBoard {
  private readonly timers: Timers;
  private readonly look: (ids: readonly string[]) => Promise<LiveSample>;
  private readonly watchers = new Set<readonly string[]>();
  /** The next sample, whose timer has not fired yet. */
  private coming: { readonly sample: Promise<LiveSample>; hurry(): void } | null = null;
  private isAwaited = true;
  private takenAt = Number.NEGATIVE_INFINITY;

  constructor(timers: Timers, look: (ids: readonly string[]) => Promise<LiveSample>) {
    this.timers = timers;
    this.look = look;
  }

  /** A new viewer triggers a sample at once, which all viewers receive. */
  enter(watch: readonly string[]): () => void {
    const place = [...watch];
    this.watchers.add(place);
    this.isAwaited = true;
    this.coming?.hurry();
    return () => this.watchers.delete(place);
  }

  isEmpty(): boolean {
    return this.watchers.size === 0;
  }

  /** null: no listeners are left. */
  async next(signal: AbortSignal): Promise<LiveSample | null> {
    this.coming ??= this.plan();
    const { promise: aborted, resolve } = Promise.withResolvers<null>();
    const stop = () => resolve(null);
    signal.addEventListener('abort', stop);
    try {
      return await Promise.race([this.coming.sample, aborted]);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  private plan(): NonNullable<TenantBoard['coming']> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wait = () => this.timers.after(this.isAwaited ? this.soonMs() : EVERY_MS, resolve);
    let cancel = wait();
    const hurry = () => {
      cancel();
      cancel = wait();
    };
    return { sample: promise.then(() => this.take()), hurry };
  }

  private soonMs(): number {
    return Math.max(0, this.takenAt + SOONEST_MS - this.timers.monotonicMs());
  }

  private take(): Promise<LiveSample> {
    this.coming = null;
    this.isAwaited = false;
    this.takenAt = this.timers.monotonicMs();
    const watched = [...new Set([...this.watchers].flat())].slice(0, MAX_WATCHED);
    return this.look(watched);
  }
}
