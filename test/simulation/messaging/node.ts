// A process that triggers, sends, acknowledges and monitors, with the real services, put together as in src/app/messaging.ts. It
// is started again after a crash.

import type { HttpClient } from '../../../src/action/http-client.ts';
import { createClock } from '../../../src/clock/clock.ts';
import { createDelivering, type Delivering } from '../../../src/delivery/delivering.ts';
import { InstanceTriggers } from '../../../src/lifecycle/instance/instance-triggers.ts';
import { MachineBook } from '../../../src/lifecycle/instance/machine-book.ts';
import { react } from '../../../src/lifecycle/instance/reactions.ts';
import { fireTimeouts } from '../../../src/lifecycle/instance/timeouts.ts';
import type { Store } from '../../../src/store/port.ts';
import type { Random } from '../random.ts';
import { Process, type World } from '../world.ts';

export interface NodeDeps {
  readonly world: World;
  readonly connect: (process: Process) => Store;
  readonly http: (process: Process) => HttpClient;
  readonly random: Random;
  /** How far the clock of the process is from the clock of the database; nothing may depend on it. */
  readonly skewMs: number;
}

export const DELIVERED_AFTER_MS = 1_000;
export const PROCESSED_AFTER_MS = 3_000;
const BOOT_AGAIN_MS = 100;
const CLAIM_MS = 10_000;

export class Node {
  process: Process;
  triggers: InstanceTriggers | null = null;
  private readonly deps: NodeDeps;
  private readonly name: string;
  private boots = 0;

  constructor(deps: NodeDeps, name: string) {
    this.deps = deps;
    this.name = name;
    this.process = new Process(deps.world, `${name}.0`);
  }

  boot(): void {
    const process = new Process(this.deps.world, `${this.name}.${this.boots++}`);
    this.process = process;
    this.start(process).catch(() => this.crash(BOOT_AGAIN_MS));
  }

  crash(downMs: number): void {
    if (this.process.isDead) return;
    this.process.isDead = true;
    this.triggers = null;
    this.deps.world.schedule(downMs, null, () => this.boot());
  }

  private async start(process: Process): Promise<void> {
    const store = this.deps.connect(process);
    const { timers } = process;
    const clock = createClock(timers);
    clock.observe(await store.now());
    const machines = new MachineBook(store);
    const warn = () => {};
    const newId = () => this.deps.random.uuid();
    const delivering: Delivering = createDelivering({
      ...{ store, timers, newId, http: this.deps.http(process) },
      wallClockMs: () => this.deps.world.now + this.deps.skewMs,
      randomBytes: (count) => Uint8Array.from({ length: count }, () => this.deps.random.between(0, 255)),
      observer: { warn },
      strict: false,
      startWorkflow: () => Promise.reject(new Error('no workflows here')),
      handInEvent: () => Promise.reject(new Error('no triggers here')),
      planOf: async () => null,
      fireTimeouts: async () =>
        (await fireTimeouts({ store, machines, triggers, clock, warn, claimMs: CLAIM_MS })).fired,
      react: async () => (await react({ store, triggers, warn, claimMs: CLAIM_MS })).reacted,
      options: {
        deliveredAfterMs: DELIVERED_AFTER_MS,
        processedAfterMs: PROCESSED_AFTER_MS,
        timeoutMs: 800,
        retentionMs: 0,
        natsServers: [],
      },
      monitor: { intervalMs: 200, leaseMs: 2_000 },
    });
    const { book: directory, dispatcher, monitor } = delivering;
    const triggers = new InstanceTriggers({
      ...{ store, machines, directory, timers, clock, newId },
      raise: () => {},
      wake: (consumerIds) => dispatcher.wake(consumerIds),
      cacheLimit: 5,
    });
    await directory.refresh();
    dispatcher.start();
    monitor.start();
    this.triggers = triggers;
  }
}
