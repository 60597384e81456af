// Fires schedules. Claims those that are due by the database's clock, never early (I8), starts each slot under its own request
// id, and only then advances the schedule. If a scheduler dies before that, its claim expires and the same slots find the same
// executions. So each slot starts at most one execution, however many schedulers run (I9).

import { isoTime } from '../clock/clock.ts';
import { RecentCache } from '../core/cache/recent-cache.ts';
import type { Json } from '../core/json/json.ts';
import type { StartHold } from '../store/port.ts';
import type {
  ClaimedSchedule,
  NewFiring,
  SettledSchedule,
  TriggerRecord,
  TriggerStore,
} from '../store/trigger-port.ts';
import type { Judge } from './activation.ts';
import { type DueSlots, dueSlots } from './due-slots.ts';
import {
  type Fired,
  type FiringRequest,
  fireTrigger,
  firingOf,
  isRepetition,
  type StartExecution,
  type TriggerObserver,
  type TriggerStart,
} from './firing.ts';
import { slotId, slotRequestOf } from './slot-request.ts';
import { type ScheduleConfig, scheduleOf } from './trigger-config.ts';

export interface SchedulerOptions {
  /** How often it looks when nothing is due sooner. */
  readonly pollMs: number;
  /** How long a claim lasts, and so how late a slot may be after its scheduler died. */
  readonly leaseMs: number;
  /** A slot within this time was not missed. */
  readonly graceMs: number;
  /** Firing records older than this are removed; 0: never. */
  readonly firingRetentionMs: number;
  /** Schedules per claim. */
  readonly batch?: number;
  /** Slots of one schedule per round, with `catchUp: "all"`. */
  readonly portion?: number;
}

const PORTIONS = { batch: 500, portion: 100 };

export interface SchedulerDeps {
  readonly store: Pick<TriggerStore, 'scheduleClaim' | 'scheduleSettle' | 'firingPurge'>;
  readonly start: StartExecution;
  readonly judge: Judge;
  /** Throws when the tenant may not have schedules. The slot is then skipped, with a record. */
  readonly admitCron?: (tenantId: string) => Promise<void>;
  /** For how long the start of a slot is held, because its tenant starts too much; throws when that is too long. */
  readonly holdSlot?: ((start: TriggerStart) => Promise<StartHold | undefined>) | undefined;
  readonly observer: TriggerObserver;
  readonly deadLetters?: boolean;
  readonly timers: { after(delayMs: number, callback: () => void): () => void };
  readonly options: SchedulerOptions;
  /** Replaces the database's clock. */
  readonly now?: () => number;
}

interface Seen {
  readonly trigger: TriggerRecord;
  readonly settled: SettledSchedule;
  readonly firings: readonly { readonly firing: NewFiring; readonly fired: Fired }[];
}

const PURGE_EVERY_MS = 3_600_000;
const PURGE_LIMIT = 5_000;
/** A schedule with its time zone's clock takes some kilobytes. */
const CONFIG_BYTES = 64 * 1024 * 1024;
const BYTES_PER_CONFIG = 4_096;

export class Scheduler {
  private readonly deps: SchedulerDeps;
  private readonly options: Required<SchedulerOptions>;
  private cancelTimer: () => void = () => {};
  private round: Promise<void> = Promise.resolve();
  private running = false;
  private readonly configs = new RecentCache<ScheduleConfig | string>(CONFIG_BYTES);
  private purgeAt = 0;

  constructor(deps: SchedulerDeps) {
    this.deps = deps;
    this.options = { ...PORTIONS, ...deps.options };
  }

  start(): void {
    this.running = true;
    this.wakeIn(0);
  }

  /** Claimed work is finished first. */
  async stop(): Promise<void> {
    this.running = false;
    this.cancelTimer();
    await this.round;
  }

  /** Fires a batch of due schedules. Returns how long it can wait until the next look. */
  async runOnce(): Promise<{ claimed: number; waitMs: number }> {
    const { leaseMs, batch, pollMs } = this.options;
    const claim = await this.deps.store.scheduleClaim({ at: this.deps.now?.(), leaseMs, limit: batch });
    const { claimed, at, nextDueAt } = claim;
    if (at >= this.purgeAt) await this.purge(at);
    const seen = (await Promise.all(claimed.map((schedule) => this.see(schedule, at)))).filter((item) => item !== null);
    if (seen.length > 0) await this.settle(seen);
    const dueTimes = [...seen.map(({ settled }) => settled.dueAt), nextDueAt].filter((due) => due !== null);
    const soonest = claimed.length === batch ? at : Math.min(...dueTimes, at + pollMs);
    return { claimed: claimed.length, waitMs: Math.max(0, soonest - at) };
  }

  private wakeIn(delayMs: number): void {
    if (!this.running) return;
    this.cancelTimer = this.deps.timers.after(delayMs, () => {
      this.round = this.look();
    });
  }

  private async look(): Promise<void> {
    try {
      const { waitMs } = await this.runOnce();
      this.wakeIn(waitMs);
    } catch (error) {
      this.deps.observer.warn('the schedules could not be looked at', { error: (error as Error).message });
      this.wakeIn(this.options.pollMs);
    }
  }

  /** null: it failed for now and stays due. */
  private async see(claimed: ClaimedSchedule, now: number): Promise<Seen | null> {
    const { trigger } = claimed;
    const config = this.configOf(trigger.config);
    if (typeof config === 'string') return unusable(claimed, now, config);
    const due = dueSlots(config.schedule, { ...this.options, catchUp: config.catchUp, ...claimed, now });
    try {
      const firings = [...missed(trigger, config, due), ...(await this.fire(trigger, due.fire))];
      const { settledThrough, nextAt: dueAt } = due;
      return { trigger, settled: { ...keyOf(claimed), settledThrough, dueAt }, firings };
    } catch (error) {
      const { triggerId, workflowId } = trigger;
      this.deps.observer.warn('a schedule could not be fired', {
        triggerId,
        workflowId,
        error: (error as Error).message,
      });
      return null;
    }
  }

  /** Building a time zone's clock takes longer than reading it, and the same schedules come again and again. */
  private configOf(text: string): ScheduleConfig | string {
    const known = this.configs.get(text);
    if (known !== undefined) return known;
    const config = scheduleOf(JSON.parse(text) as Json);
    this.configs.set(text, config, BYTES_PER_CONFIG + text.length);
    return config;
  }

  /** In order, so that the executions are in the order of their slots. */
  private async fire(trigger: TriggerRecord, slots: readonly number[]): Promise<Seen['firings']> {
    const firings: Seen['firings'][number][] = [];
    const { admitCron, holdSlot } = this.deps;
    const admit = async (start: TriggerStart) => {
      await admitCron?.(start.tenantId);
      return holdSlot?.(start);
    };
    for (const slot of slots) {
      const request = { ...slotRequestOf(trigger, slot), admit, keepRefused: this.deps.deadLetters ?? true };
      const fired = await fireTrigger(this.deps, trigger, request);
      firings.push({ fired, firing: firingOf(trigger, request, fired) });
    }
    return firings;
  }

  private async settle(seen: readonly Seen[]): Promise<void> {
    await this.deps.store.scheduleSettle({
      items: seen.map(({ settled }) => settled),
      firings: seen.flatMap(({ firings }) => firings.map(({ firing }) => firing)),
    });
    for (const { trigger, firings } of seen) {
      for (const { fired } of firings) if (!isRepetition(fired)) this.deps.observer.fired(trigger, fired);
    }
  }

  private async purge(now: number): Promise<void> {
    const { firingRetentionMs: olderThanMs } = this.options;
    this.purgeAt = now + PURGE_EVERY_MS;
    if (olderThanMs === 0) return;
    const purged = await this.deps.store.firingPurge({ olderThanMs, limit: PURGE_LIMIT });
    if (purged === PURGE_LIMIT) this.purgeAt = now;
  }
}
const keyOf = ({ trigger, revision }: ClaimedSchedule) => ({ triggerId: trigger.triggerId, revision });

/** One record for all of them, because there may be very many. */
function missed(trigger: TriggerRecord, { catchUp }: ScheduleConfig, due: DueSlots): Seen['firings'] {
  if (due.missed === null) return [];
  const { first, last } = due.missed;
  const which =
    first === last ? `the slot ${isoTime(last)} was` : `the slots from ${isoTime(first)} to ${isoTime(last)} were`;
  return [notFired(trigger, 'skipped', `${which} missed, and catchUp is "${catchUp}"`, last)];
}

/** Not looked at again until it is changed. */
function unusable(claimed: ClaimedSchedule, now: number, reason: string): Seen {
  const { trigger } = claimed;
  const settled = { ...keyOf(claimed), settledThrough: now, dueAt: null };
  return { trigger, settled, firings: [notFired(trigger, 'failed', `the schedule cannot be used: ${reason}`, now)] };
}

function notFired(trigger: TriggerRecord, outcome: 'skipped' | 'failed', reason: string, slot: number) {
  const fired: Fired = { outcome, reason };
  const request: FiringRequest = { requestId: `${slotId(trigger, slot)}:${outcome}`, slot, body: {} };
  return { fired, firing: firingOf(trigger, request, fired) };
}
