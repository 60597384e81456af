// Sends due deliveries to every consumer that this process can reach. Each consumer has a lane that lives as long as the
// consumer. Any process may send any delivery; the claim keeps them apart. `wake` is called after a commit of a delivery, and by
// the monitor for deliveries without a wake-up.

import type { SentKind } from '../protocol/consumer-kind.ts';
import type { DeliveryStore } from '../store/delivery-port.ts';
import type { Channel } from './channel/channel.ts';
import type { Consumer } from './consumer.ts';
import type { ConsumerBook } from './consumer-book.ts';
import { Lane, type LaneDeps } from './lane.ts';

export interface DispatcherDeps extends LaneDeps {
  readonly store: Pick<DeliveryStore, 'deliveryClaim' | 'deliveryGet'>;
  readonly book: ConsumerBook;
  /**
   * One channel per kind that is sent to: a kind without a channel does not compile. Consumers of kind `pull` ask by
   * themselves.
   */
  readonly channels: Readonly<Record<SentKind, Channel>>;
  /** Wakes pulls of this consumer; false: none waits in this process. */
  readonly wakePulls: (consumerId: string) => boolean;
  /** Only other processes reach these consumers. */
  readonly wakeElsewhere: (consumerIds: readonly string[]) => void;
}

export class Dispatcher {
  private readonly deps: DispatcherDeps;
  private readonly lanes = new Map<string, Lane>();
  /** Lanes of removed consumers, until they are empty. */
  private readonly leaving = new Set<Promise<void>>();
  private paused: ReadonlySet<string> = new Set();
  private running = false;

  constructor(deps: DispatcherDeps) {
    this.deps = deps;
    deps.book.onRefresh(() => this.follow());
  }

  start(): void {
    this.running = true;
    this.wake(this.reachable());
  }

  /** Deliveries in flight finish and are acknowledged; other processes take the unclaimed ones (I23). */
  async stop(): Promise<void> {
    this.running = false;
    for (const lane of this.lanes.values()) this.dismiss(lane);
    this.lanes.clear();
    await Promise.all(this.leaving);
    const channels = Object.values(this.deps.channels);
    await Promise.all(channels.map((channel) => channel.close?.()));
  }

  /** These consumers may have due deliveries. */
  wake(consumerIds: Iterable<string>): void {
    const elsewhere = this.wakeHere(consumerIds);
    if (elsewhere.length > 0) this.deps.wakeElsewhere(elsewhere);
  }

  /** Returns the consumers that no lane or pull of this process serves. */
  wakeHere(consumerIds: Iterable<string>): string[] {
    const elsewhere: string[] = [];
    for (const consumerId of consumerIds) {
      const consumer = this.deps.book.byId(consumerId);
      if (consumer === null || consumer.isPaused) continue;
      const lane = consumer.kind === 'pull' ? null : this.laneOf(consumer);
      lane?.wake();
      const isHere = consumer.kind === 'pull' ? this.deps.wakePulls(consumerId) : lane !== null;
      if (!isHere) elsewhere.push(consumerId);
    }
    return elsewhere;
  }

  /** The consumers that this process can send to now. */
  reachable(): string[] {
    const ids: string[] = [];
    for (const consumer of this.deps.book.all()) if (this.channelOf(consumer) !== null) ids.push(consumer.consumerId);
    return ids;
  }

  /** Resolves when everything that was woken has been claimed, sent and acknowledged, as far as possible now. */
  async settled(): Promise<void> {
    await Promise.all([...this.lanes.values()].map((lane) => lane.settled()));
  }

  private laneOf(consumer: Consumer): Lane | null {
    const { consumerId } = consumer;
    const channel = this.running ? this.channelOf(consumer) : null;
    if (channel === null) return null;
    const existing = this.lanes.get(consumerId);
    if (existing !== undefined) return existing;
    const lane = new Lane(this.deps, consumer, channel);
    this.lanes.set(consumerId, lane);
    return lane;
  }

  private channelOf(consumer: Consumer): Channel | null {
    if (consumer.isPaused || consumer.kind === 'pull') return null;
    const channel = this.deps.channels[consumer.kind];
    return channel.reaches?.(consumer) === false ? null : channel;
  }

  /** Consumers have changed: removes lanes of removed consumers, and wakes resumed ones. */
  private follow(): void {
    for (const [consumerId, lane] of this.lanes) {
      const consumer = this.deps.book.byId(consumerId);
      if (consumer?.kind === lane.consumer.kind && consumer.url === lane.consumer.url) {
        lane.consumer = consumer;
        continue;
      }
      // A new address may well be alive, so the lane starts afresh.
      this.lanes.delete(consumerId);
      this.dismiss(lane);
      if (consumer !== null) this.laneOf(consumer)?.wake();
    }
    const paused = new Set([...this.deps.book.all()].filter(({ isPaused }) => isPaused).map(idOf));
    this.wake([...this.paused].filter((consumerId) => !paused.has(consumerId)));
    this.paused = paused;
  }

  private dismiss(lane: Lane): void {
    const left = lane.close(this.deps.options.drainMs).finally(() => this.leaving.delete(left));
    this.leaving.add(left);
  }
}

const idOf = ({ consumerId }: Consumer): string => consumerId;
