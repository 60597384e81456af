// Handles the messages of a pull consumer: pulls, confirms on receipt, handles, and reports the outcome. Messages that are
// already done are skipped. While the server is away, the worker retries with backoff until the signal aborts; a final refusal
// (no scope, no such consumer) is thrown. While a message waits or is handled here, the worker renews its confirmation, so that
// no other worker gets it. A worker that dies leaves its messages to others (I19: at least once).

import type { AckJson, AckRequest, WorkEventJson } from '../protocol/delivery.ts';
import { Backoff, isPassing } from './backoff.ts';

export interface WorkOptions {
  readonly signal: AbortSignal;
  /** How many messages are pulled at a time. */
  readonly limit?: number;
  /** How many handlers run at the same time; 1 by default. Messages about one instance are handled one after the other. */
  readonly concurrency?: number;
  /** When to send a message again after its handler threw; null: it becomes a dead letter. */
  readonly retryAfterMs?: number | null;
  /** How often an unfinished message is confirmed again. Must be shorter than the server's `delivery.processedAfterMs`. */
  readonly renewEveryMs?: number;
}

/** The returned value, if any, becomes the payload of the event that a hook triggers (`onProcessed`). */
export type HandleWork = (event: WorkEventJson) => Promise<unknown>;

interface DeliveryDoor {
  pull(consumer: string, options: { wait: string; limit: number; signal: AbortSignal }): Promise<WorkEventJson[]>;
  ack(ackGuid: string, request: AckRequest): Promise<AckJson>;
}

const RETRY_AFTER_MS = 30_000;
const RENEW_EVERY_MS = 60_000;

export class DeliveryWorker {
  private readonly door: DeliveryDoor;
  private readonly consumer: string;
  private readonly handle: HandleWork;
  private readonly options: Required<WorkOptions>;
  private readonly queue: WorkEventJson[] = [];
  /** Confirmed by this worker and not answered for yet. */
  private readonly held = new Set<string>();
  /** Instances and executions whose messages are being handled. */
  private readonly busy = new Set<string>();
  private running = 0;
  private settled: (() => void)[] = [];

  constructor(door: DeliveryDoor, consumer: string, handle: HandleWork, options: WorkOptions) {
    this.door = door;
    this.consumer = consumer;
    this.handle = handle;
    const defaults = { limit: 10, concurrency: 1, retryAfterMs: RETRY_AFTER_MS, renewEveryMs: RENEW_EVERY_MS };
    this.options = { ...defaults, ...options };
  }

  /** Runs until the signal aborts. Waits for running handlers; messages that have not begun are given back at once. */
  async run(): Promise<void> {
    const renewing = setInterval(() => this.renew(), this.options.renewEveryMs);
    try {
      await this.pullUntilStopped();
    } finally {
      await this.giveBack();
      while (this.running > 0) await this.nextSettled();
      clearInterval(renewing);
    }
  }

  private async pullUntilStopped(): Promise<void> {
    const { signal, limit } = this.options;
    const backoff = new Backoff();
    while (!signal.aborted) {
      if (this.queue.length > 0) {
        await this.nextSettled();
        continue;
      }
      try {
        const due = await this.door.pull(this.consumer, { wait: '30s', limit, signal });
        backoff.reset();
        await Promise.all(due.map((event) => this.receive(event)));
        this.pump();
      } catch (error) {
        if (signal.aborted) return;
        if (!isPassing(error)) throw error;
        await backoff.rest(signal);
      }
    }
  }

  private async receive(event: WorkEventJson): Promise<void> {
    const { ackGuid } = event;
    // This worker already has the message: it came again because it took long.
    if (ackGuid === undefined || this.held.has(ackGuid)) return;
    const confirmed = await this.say(ackGuid, { consumer: this.consumer, stage: 'Delivered' });
    if (confirmed === null || confirmed.stage === 'Processed' || confirmed.stage === 'Dead') return;
    this.held.add(ackGuid);
    this.queue.push(event);
  }

  private pump(): void {
    const { concurrency, signal } = this.options;
    while (this.running < concurrency && !signal.aborted) {
      const place = this.queue.findIndex((event) => !this.busy.has(subjectOf(event)));
      if (place < 0) return;
      const [event] = this.queue.splice(place, 1);
      void this.work(event!);
    }
  }

  private async work(event: WorkEventJson): Promise<void> {
    const subject = subjectOf(event);
    this.running += 1;
    this.busy.add(subject);
    try {
      await this.finish(event, await this.outcomeOf(event));
    } finally {
      this.running -= 1;
      this.busy.delete(subject);
      this.pump();
      for (const wake of this.settled.splice(0)) wake();
    }
  }

  private async outcomeOf(
    event: WorkEventJson,
  ): Promise<Pick<AckRequest, 'outcome' | 'message' | 'result' | 'retryAt'>> {
    const { retryAfterMs } = this.options;
    try {
      const result = await this.handle(event);
      return { outcome: 'succeeded', ...(result === undefined ? {} : { result }) };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const retryAt = retryAfterMs === null ? {} : { retryAt: new Date(Date.now() + retryAfterMs).toISOString() };
      return { outcome: 'failed', message, ...retryAt };
    }
  }

  private async finish(
    { ackGuid = '' }: WorkEventJson,
    outcome: Omit<AckRequest, 'consumer' | 'stage'>,
  ): Promise<void> {
    await this.say(ackGuid, { consumer: this.consumer, stage: 'Processed', ...outcome });
    this.held.delete(ackGuid);
  }

  /** Repeated until the server answers; null: the server has no such message, or the worker stops while the server is away. */
  private async say(ackGuid: string, request: AckRequest): Promise<AckJson | null> {
    const { signal } = this.options;
    const backoff = new Backoff();
    for (;;) {
      try {
        return await this.door.ack(ackGuid, request);
      } catch (error) {
        if (!isPassing(error) || signal.aborted) return null;
        await backoff.rest(signal);
      }
    }
  }

  private renew(): void {
    for (const ackGuid of this.held) {
      this.door.ack(ackGuid, { consumer: this.consumer, stage: 'Delivered' }).catch(() => undefined);
    }
  }

  /** So that other workers need not wait for the reminder. */
  private async giveBack(): Promise<void> {
    const message = 'the worker stopped before it began';
    const left = this.queue.splice(0);
    const retryAt = new Date().toISOString();
    await Promise.all(left.map((event) => this.finish(event, { outcome: 'failed', message, retryAt })));
  }

  private nextSettled(): Promise<void> {
    return new Promise((resolve) => {
      const { signal } = this.options;
      signal.addEventListener('abort', done, { once: true });
      this.settled.push(done);
      function done(): void {
        signal.removeEventListener('abort', done);
        resolve();
      }
      // Nobody would wake it: no handler runs.
      if (this.running === 0) done();
    });
  }
}

/** The subject of a message. Messages of one subject are handled one at a time. */
function subjectOf(event: WorkEventJson): string {
  const { instanceId, runId, ackGuid } = event as { instanceId?: string; runId?: string; ackGuid?: string };
  return instanceId ?? runId ?? ackGuid ?? '';
}
