// The messages on their way to one consumer. A lane claims as many deliveries as it has room for, sends each, and records the
// outcome. One consumer's lane never waits for another's.
//
// Nothing is lost whenever the process dies (I19). Before the claim, the delivery is due for any process. Between claim and send,
// or between send and acknowledgement, the claim expires and the delivery is sent again with the same id and bytes; the consumer
// recognises it by its id. After the acknowledgement it is never claimed again. The claim keeps the order: it returns no message
// whose predecessor is unacknowledged, so claimed messages may go in any order.

import type { Timers } from '../clock/timers.ts';
import { consumerKind } from '../protocol/consumer-kind.ts';
import { isSealedText } from '../protocol/webhook-secret.ts';
import type { ClaimedDelivery, DeadDelivery, DeliveryStore } from '../store/delivery-port.ts';
import type { Timestamp } from '../store/port.ts';
import type { Acknowledgements } from './acknowledgements.ts';
import { type Channel, PROCESSED, type Sent } from './channel/channel.ts';
import { Circuit } from './circuit.ts';
import type { Consumer } from './consumer.ts';
import { circuitOpened, consumerFailure, deadAfterAttempts, dispatchFailure, sentAgain } from './delivery-notice.ts';
import type { DeliveryObserver, DeliveryOptions } from './environment.ts';
import type { Notices } from './notices.ts';
import { busDelays, delayAfter, jittered, remindDelays, resendDelays } from './resend-schedule.ts';
import { Slots } from './slots.ts';

export interface LaneDeps {
  readonly store: Pick<DeliveryStore, 'deliveryClaim' | 'deliveryGet'>;
  readonly timers: Timers;
  readonly acknowledgements: Acknowledgements;
  readonly notices: Pick<Notices, 'raise'>;
  readonly observer: DeliveryObserver;
  readonly options: DeliveryOptions;
  /** From 0 to 1; absent: pauses have no jitter. */
  readonly random?: () => number;
}

const SEALED = 'its secret was sealed with a key that is not among secret.keys of this process';
const CLAIM_AGAIN_AFTER_MS = 1_000;
/** A message that waited no longer than a quick answer takes is sent without a second check. */
const LOOK_AGAIN_AFTER_MS = 100;

export class Lane {
  /** The current consumer: replaced when it changes. */
  consumer: Consumer;
  private readonly deps: LaneDeps;
  private readonly channel: Channel;
  private readonly circuit: Circuit;
  private resendMs: number[];
  private readonly isBus: boolean;
  private readonly remindMs: number[];
  /** Claimed and not yet acknowledged. */
  private readonly inFlight = new Map<string, Promise<void>>();
  private readonly slots: Slots;
  private readonly stopping = new AbortController();
  private claiming: Promise<void> | null = null;
  private wanted = false;
  private isClosed = false;
  private cancelTimer: (() => void) | null = null;

  constructor(deps: LaneDeps, consumer: Consumer, channel: Channel) {
    this.deps = deps;
    this.consumer = consumer;
    this.channel = channel;
    const { circuitFailures: failuresToOpen, deliveredAfterMs: probeMs } = deps.options;
    this.slots = new Slots(deps.timers);
    this.circuit = new Circuit({ failuresToOpen, probeMs });
    this.isBus = consumerKind(consumer.kind).isBus === true;
    this.resendMs = resendDelays(deps.options);
    this.remindMs = remindDelays(deps.options);
  }

  /** There may be due deliveries. */
  wake(): void {
    this.wanted = true;
    this.pump();
  }

  /** Claims nothing more. Resolves when deliveries in flight have arrived, or their time is up. */
  async close(drainMs: number): Promise<void> {
    this.isClosed = true;
    this.cancelTimer?.();
    const cancel = this.deps.timers.after(drainMs, () => this.stopping.abort(new Error('this process is stopping')));
    await this.settled();
    cancel();
  }

  /** Nothing is being claimed, sent or acknowledged. */
  async settled(): Promise<void> {
    while (this.claiming !== null || this.inFlight.size > 0) {
      await this.claiming;
      await Promise.all(this.inFlight.values());
    }
  }

  private pump(): void {
    if (!this.wanted || this.isClosed || this.claiming !== null || this.consumer.isPaused) return;
    const now = this.deps.timers.monotonicMs();
    const { slots, circuit } = this;
    const room = circuit.room(now, slots.wanted(this.consumer.concurrency, this.inFlight.size), slots.isIdle);
    if (room > 0) {
      this.claiming = this.claim(room).finally(() => {
        this.claiming = null;
        this.pump();
      });
    } else if (circuit.isOpen && slots.isIdle) this.wakeIn(circuit.waitMs(now));
  }

  private wakeIn(delayMs: number): void {
    this.cancelTimer?.();
    if (this.isClosed) return;
    this.cancelTimer = this.deps.timers.after(delayMs, () => this.wake());
  }

  private async claim(limit: number): Promise<void> {
    this.wanted = false;
    const { consumerId, ordering, settings } = this.consumer;
    const { remindMs, deps, isBus } = this;
    const { maxAttempts: ofAll, busMaxAttempts } = deps.options;
    const maxAttempts = (settings.maxAttempts ?? (ofAll || (isBus ? busMaxAttempts : 0))) || null;
    if (isBus) this.resendMs = jittered(busDelays(deps.options), deps.random ?? (() => 0));
    const { resendMs } = this;
    try {
      const params = { consumerId, ordering, limit, resendMs, remindMs, maxAttempts };
      const { claimed, dead, at } = await deps.store.deliveryClaim(params);
      if (claimed.length + dead.length >= limit) this.wanted = true;
      for (const one of dead) this.giveUp(one);
      for (const one of claimed) this.begin(one, at);
    } catch (error) {
      deps.observer.warn('deliveries could not be claimed', { ...this.named(), error: (error as Error).message });
      this.wakeIn(CLAIM_AGAIN_AFTER_MS);
    }
  }

  private begin(delivery: ClaimedDelivery, at: Timestamp): void {
    // Due again while our own slow handler still works on it: sending it now would only repeat it.
    if (this.inFlight.has(delivery.ackGuid)) return;
    const sending = this.deliver(delivery, at).finally(() => {
      this.inFlight.delete(delivery.ackGuid);
      this.pump();
    });
    this.inFlight.set(delivery.ackGuid, sending);
  }

  private async deliver(delivery: ClaimedDelivery, at: Timestamp): Promise<void> {
    const sent = await this.slots.use(this.consumer.concurrency, async (waitedMs) =>
      (await this.isStillWanted(delivery, waitedMs)) ? this.send(delivery, at) : null,
    );
    this.pump();
    if (sent !== null) await this.acknowledge(delivery, sent);
  }

  /**
   * A delivery that was claimed ahead may be out of date when its turn comes: acknowledged meanwhile (I19), or its consumer
   * is paused or removed. An unsent delivery becomes due again by itself.
   */
  private async isStillWanted({ ackGuid, stage }: ClaimedDelivery, waitedMs: number): Promise<boolean> {
    if (waitedMs === 0) return true;
    if (this.circuit.isOpen || this.isClosed || this.consumer.isPaused) return false;
    if (waitedMs < LOOK_AGAIN_AFTER_MS) return true;
    const { tenantId, consumerId } = this.consumer;
    try {
      const message = await this.deps.store.deliveryGet({ tenantId, ackGuid });
      const delivery = message?.deliveries.find((one) => one.consumerId === consumerId);
      return delivery?.stage === stage;
    } catch {
      return false;
    }
  }

  /** null: it did not arrive, as far as we know. */
  private async send(delivery: ClaimedDelivery, at: Timestamp): Promise<Sent | null> {
    const { consumer, deps } = this;
    const { signal } = this.stopping;
    const notice = sentAgain(delivery, consumer);
    if (notice !== null) deps.notices.raise(consumer.tenantId, [notice]);
    try {
      if (consumer.secrets.some(isSealedText)) throw new Error(SEALED);
      const sent = await untilAborted(this.channel.send(delivery, consumer, signal), signal);
      this.circuit.succeeded();
      return completed(sent, delivery, consumer);
    } catch (error) {
      if (!signal.aborted) this.failed(delivery, at, error as Error);
      return null;
    }
  }

  private async acknowledge(delivery: ClaimedDelivery, sent: Sent): Promise<void> {
    const { tenantId, consumerId } = this.consumer;
    const { ackGuid } = delivery;
    const said = sent.stage === 'Delivered' ? ({ outcome: 'succeeded', message: null, retryAt: null } as const) : sent;
    const { outcome, message, retryAt } = said;
    const result = sent.stage === 'Delivered' ? null : sent.result;
    const item = { tenantId, ackGuid, consumerId, stage: sent.stage, outcome, message, result, retryAt };
    try {
      const { changed } = await this.deps.acknowledgements.ack(item);
      if (outcome === 'failed' && changed) {
        this.deps.notices.raise(tenantId, [consumerFailure(delivery, this.consumer, { message, retryAt })]);
      }
      // The next message may have waited for this one.
      this.wanted = true;
    } catch (error) {
      // It arrived, but the acknowledgement could not be written. It is sent once more, and the consumer recognises it by its id.
      const details = { ...this.named(), ackGuid, error: (error as Error).message };
      this.deps.observer.warn('a delivery could not be acknowledged', details);
    }
  }

  private failed(delivery: ClaimedDelivery, at: Timestamp, error: Error): void {
    const { consumer, deps } = this;
    const delays = delivery.stage === 'Pending' ? this.resendMs : this.remindMs;
    const tries = delivery.stage === 'Pending' ? delivery.attempts : delivery.reminders;
    const retryAt = at + delayAfter(delays, tries);
    const notices = [dispatchFailure(delivery, consumer, { message: error.message, retryAt })];
    if (this.circuit.failed(deps.timers.monotonicMs())) notices.push(circuitOpened(consumer, deps.options));
    if (this.circuit.isOpen) this.wanted = true;
    deps.notices.raise(consumer.tenantId, notices);
    if (delivery.kind === 'execution') deps.observer.publishFailed?.(consumer.kind);
  }

  private giveUp(dead: DeadDelivery): void {
    this.deps.notices.raise(this.consumer.tenantId, [deadAfterAttempts(dead, this.consumer)]);
    if (this.isBus) this.deps.observer.buried?.(this.consumer.kind);
  }

  private named() {
    const { tenantId, code: consumer } = this.consumer;
    return { tenantId, consumer };
  }
}

/** Events of executions need no second confirmation, nor do messages of a consumer that completes at Delivered. */
function completed(sent: Sent, { kind }: ClaimedDelivery, { settings }: Consumer): Sent {
  const completeAt = settings.completeAt ?? (kind === 'execution' ? 'Delivered' : 'Processed');
  return sent.stage === 'Delivered' && completeAt === 'Delivered' ? PROCESSED : sent;
}

/** A channel that ignores its signal must not hold up a stop. */
async function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
