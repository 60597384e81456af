// Sees to due work that nobody else has seen to: unconfirmed deliveries, reminders, timeouts of states, outcomes of hooks, events
// of executions, and retention. Every process may run a monitor; each kind of work is claimed, so several share it and none
// repeats it. One statement tells whether there is anything to do, so a quiet system costs one query per look, however much is
// not due yet. `wake` makes it look at once.

import type { Timers } from '../clock/timers.ts';
import type { DeliveryStore, MonitorLook } from '../store/delivery-port.ts';
import type { ConsumerBook } from './consumer-book.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { DeliveryObserver } from './environment.ts';
import type { Publisher } from './publisher.ts';
import type { Pulls } from './pulls.ts';

export interface MonitorOptions {
  /** How often it looks when nothing is due sooner. */
  readonly intervalMs: number;
  /** How long finished messages are kept; 0: for ever. */
  readonly retentionMs: number;
}

export interface MonitorDeps {
  readonly store: Pick<DeliveryStore, 'monitorLook' | 'messagePurge'>;
  readonly timers: Timers;
  readonly observer: DeliveryObserver;
  readonly book: ConsumerBook;
  readonly dispatcher: Pick<Dispatcher, 'reachable' | 'wake'>;
  readonly pulls: Pick<Pulls, 'waitedFor'>;
  readonly publisher: Pick<Publisher, 'runOnce' | 'stop'>;
  /** Fires some of the due timeouts. Returns how many. */
  readonly fireTimeouts: () => Promise<number>;
  /** Triggers some of the events that finished hooks ask for. Returns how many. */
  readonly react: () => Promise<number>;
  readonly options: MonitorOptions;
}

const SHORTEST_WAIT_MS = 20;
/** When nothing at all is open, the next work comes with its own wake-up, or from another process that sends it itself. */
const QUIET_FACTOR = 2;
const PURGE_EVERY_MS = 600_000;
const PURGE_LIMIT = 5_000;

export class Monitor {
  private readonly deps: MonitorDeps;
  private cancelTimer: () => void = () => {};
  private round: Promise<void> | null = null;
  private again = false;
  private running = false;
  private purgeAt: number;

  constructor(deps: MonitorDeps) {
    this.deps = deps;
    this.purgeAt = deps.timers.monotonicMs() + PURGE_EVERY_MS;
  }

  start(): void {
    this.running = true;
    this.wake();
  }

  /** Claimed work is finished first. */
  async stop(): Promise<void> {
    this.running = false;
    this.cancelTimer();
    await this.round;
    await this.attempt('the publication of events could not be handed over', async () => {
      await this.deps.publisher.stop();
      return false;
    });
  }

  /** There may be work right now. */
  wake(): void {
    if (!this.running) return;
    if (this.round !== null) this.again = true;
    else this.lookIn(0);
  }

  /** Does a portion of each kind of due work. Returns how long it can wait until the next look. */
  async runOnce(): Promise<{ waitMs: number }> {
    const { store, book, dispatcher, pulls } = this.deps;
    const consumerIds = [...new Set([...dispatcher.reachable(), ...pulls.waitedFor()])];
    const look = await store.monitorLook({ consumerIds });
    if (look.generation !== book.generation) await book.refresh();
    dispatcher.wake(look.dueConsumerIds);
    const handled = await Promise.all([
      this.attempt('timeouts could not be fired', () => this.timeouts(look)),
      this.attempt('the outcomes of hooks could not be acted on', () => this.reactions(look)),
      this.attempt('the events of executions could not be published', () => this.events(look)),
      this.attempt('old messages could not be forgotten', () => this.purge(look)),
    ]);
    return { waitMs: handled.includes(true) ? 0 : this.waitAfter(look) };
  }

  private lookIn(delayMs: number): void {
    if (!this.running) return;
    this.cancelTimer();
    this.cancelTimer = this.deps.timers.after(delayMs, () => {
      this.round = this.look().finally(() => {
        this.round = null;
      });
    });
  }

  private async look(): Promise<void> {
    this.again = false;
    try {
      const { waitMs } = await this.runOnce();
      this.lookIn(this.again ? 0 : waitMs);
    } catch (error) {
      this.deps.observer.warn('the monitor could not look', { error: (error as Error).message });
      this.lookIn(this.deps.options.intervalMs);
    }
  }

  /** Runs one kind of work, so that its failure does not keep the others from being done. true: there may be more right now. */
  private async attempt(failure: string, work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await work();
    } catch (error) {
      this.deps.observer.warn(failure, { error: (error as Error).message });
      return false;
    }
  }

  private async timeouts({ nextTimeoutAt, at }: MonitorLook): Promise<boolean> {
    return nextTimeoutAt !== null && nextTimeoutAt <= at && (await this.deps.fireTimeouts()) > 0;
  }

  private async reactions({ hasReactions }: MonitorLook): Promise<boolean> {
    return hasReactions && (await this.deps.react()) > 0;
  }

  private async events({ hasOutbox }: MonitorLook): Promise<boolean> {
    return hasOutbox && (await this.deps.publisher.runOnce()).more;
  }

  private async purge({ at }: MonitorLook): Promise<boolean> {
    const { retentionMs } = this.deps.options;
    const now = this.deps.timers.monotonicMs();
    if (now < this.purgeAt) return false;
    this.purgeAt = now + PURGE_EVERY_MS;
    // 0 = keep every message. The call still trims short-lived rows.
    const before = retentionMs === 0 ? 0 : at - retentionMs;
    const purged = await this.deps.store.messagePurge({ before, limit: PURGE_LIMIT });
    if (purged === PURGE_LIMIT) this.purgeAt = now;
    return purged === PURGE_LIMIT;
  }

  private waitAfter(look: MonitorLook): number {
    const { at, nextDeliveryAt, nextTimeoutAt } = look;
    const { intervalMs } = this.deps.options;
    if (isQuiet(look)) return intervalMs * QUIET_FACTOR;
    const next = Math.min(nextDeliveryAt ?? Number.POSITIVE_INFINITY, nextTimeoutAt ?? Number.POSITIVE_INFINITY);
    return Math.min(intervalMs, Math.max(SHORTEST_WAIT_MS, next - at));
  }
}

function isQuiet({ dueConsumerIds, nextDeliveryAt, nextTimeoutAt, hasReactions, hasOutbox }: MonitorLook): boolean {
  const isNothingOpen = dueConsumerIds.length === 0 && nextDeliveryAt === null && nextTimeoutAt === null;
  return isNothingOpen && !hasReactions && !hasOutbox;
}
