// What a dashboard shows at all times, sampled once per tenant however many look: every two seconds while anybody does. Fifty open tabs
// ask the database no more than one does.

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
  /** Of the executions that anybody watches. */
  readonly rows: ReadonlyMap<string, ExecutionRow>;
}

const EVERY_MS = 2_000;
/** Health asks more than the rest, and changes less often. */
const HEALTH_EVERY_MS = 10_000;
const MAX_WATCHED = 500;

export class LiveBoard {
  private readonly deps: LiveBoardDeps;
  private readonly tenants = new Map<string, TenantBoard>();
  private health: { readonly at: number; readonly told: Promise<LiveHealth> } | null = null;

  constructor(deps: LiveBoardDeps) {
    this.deps = deps;
  }

  /** One sample, now. */
  async look(tenantId: string, watch: readonly string[] = []): Promise<LiveSample> {
    const [now, health, rows] = await Promise.all([
      this.deps.sample(tenantId),
      this.healthNow(),
      this.deps.lists.rowsOf(tenantId, watch),
    ]);
    return { at: this.deps.wallClockMs(), now, health, rows: new Map(rows.map((row) => [row.executionId, row])) };
  }

  /** Samples as they are taken, until the signal. */
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

  private healthNow(): Promise<LiveHealth> {
    const at = this.deps.wallClockMs();
    if (this.health === null || at - this.health.at >= HEALTH_EVERY_MS) this.health = { at, told: this.deps.health() };
    return this.health.told;
  }
}

/** One tenant's samples, shared by all who look. */
class TenantBoard {
  private readonly timers: Timers;
  private readonly look: (ids: readonly string[]) => Promise<LiveSample>;
  private readonly watchers = new Set<readonly string[]>();
  private coming: Promise<LiveSample> | null = null;
  private isFirst = true;

  constructor(timers: Timers, look: (ids: readonly string[]) => Promise<LiveSample>) {
    this.timers = timers;
    this.look = look;
  }

  enter(watch: readonly string[]): () => void {
    const place = [...watch];
    this.watchers.add(place);
    // Whoever comes later sees something at once, too.
    this.isFirst = true;
    this.coming = null;
    return () => this.watchers.delete(place);
  }

  isEmpty(): boolean {
    return this.watchers.size === 0;
  }

  /** Null: nobody listens any more. */
  async next(signal: AbortSignal): Promise<LiveSample | null> {
    this.coming ??= this.take();
    const aborted = new Promise<null>((resolve) => {
      signal.addEventListener('abort', () => resolve(null), { once: true });
    });
    return Promise.race([this.coming, aborted]);
  }

  private async take(): Promise<LiveSample> {
    const delayMs = this.isFirst ? 0 : EVERY_MS;
    this.isFirst = false;
    await new Promise<void>((resolve) => this.timers.after(delayMs, resolve));
    this.coming = null;
    const watched = [...new Set([...this.watchers].flat())].slice(0, MAX_WATCHED);
    return this.look(watched);
  }
}
