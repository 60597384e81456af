// Between a process and the database: what can happen to a statement on its way. A statement is always atomic. What varies is
// whether and when it happens, and what its sender hears of it.
//
//   before  the connection breaks before the statement happens: 'unknown' (or 'retry'), nothing applied
//   after   the statement happens, and the reply is lost: 'unknown'
//   late    the connection breaks first, and the server still runs the statement, holding its fence row until then
//   stray   the connection breaks first, and the statement reaches the server much later: it holds no lock meanwhile
//   slow    the statement, or its reply, takes long
//
// A statement that left its process happens even if the process is gone by then. PostgreSQL's connections deliver nothing
// twice, so this network does not either; a repeated statement is sent twice by its sender (see client.ts).

import type { Store } from '../../src/store/port.ts';
import { StoreError } from '../../src/store/store-error.ts';
import type { Statements, Tables } from './database/tables.ts';
import type { Random } from './random.ts';
import { storeOf } from './simulated-store.ts';
import type { Process, World } from './world.ts';

export const FATES = ['before', 'after', 'late', 'stray', 'slow'] as const;
export type Fate = (typeof FATES)[number];

export interface NetworkDeps {
  readonly world: World;
  readonly tables: Tables;
  readonly random: Random;
  readonly methods: readonly string[];
  /** Runs one statement; may throw a StoreError. */
  readonly apply: (method: keyof Statements, params: unknown) => unknown;
  /** How likely each fate is while faults are on; 0 = never. */
  readonly fates: Readonly<Record<Fate, number>>;
  readonly isStormy: () => boolean;
  /** The longest delay. */
  readonly slowMs: number;
}

/** The parameters of a statement that locks fence rows. */
interface Fenced {
  readonly slotId?: string;
  readonly runnerId?: string;
}

export class Network {
  /** The database cannot be reached before this time. */
  outageUntil = 0;
  /** Statements that happened, but whose reply never came. */
  repliesLost = 0;
  private readonly deps: NetworkDeps;
  private readonly heldUntil = new Map<string, number>();

  constructor(deps: NetworkDeps) {
    this.deps = deps;
  }

  connect(process: Process, { sent, heard }: Tap): Store {
    return storeOf(this.deps.methods, (method, params = {}) => {
      const sentAt = this.deps.world.now;
      const fate = sent(method) ?? this.drawFate();
      return new Promise((resolve, reject) => {
        this.send(process, method, params, fate, {
          resolve: (reply) => {
            heard(method, params, reply, sentAt);
            resolve(reply);
          },
          reject,
        });
      });
    });
  }

  private send(process: Process, method: keyof Statements, params: unknown, fate: Fate | null, sender: Sender): void {
    const { world, random } = this.deps;
    const reply = (delayMs: number, tell: () => void) => world.schedule(delayMs, process, tell);
    const fail = (delayMs: number, failure: 'unknown' | 'retry') =>
      reply(delayMs, () => sender.reject(new StoreError(failure, `${method}: ${failure}`)));
    if (this.isOut(process) || fate === 'before') {
      fail(random.between(1, 30), random.chance(0.5) ? 'unknown' : 'retry');
      return;
    }
    if (fate === 'stray') {
      fail(random.between(1, 30), 'unknown');
      world.schedule(this.latency(true), null, () => this.arrive(method, params as Fenced, false, () => {}));
      return;
    }
    const slowly = fate === 'slow' && random.chance(0.5);
    world.schedule(this.latency(slowly), null, () => {
      if (this.isOut(process)) return fail(1, 'unknown');
      this.arrive(method, params as Fenced, fate === 'late', (outcome) => {
        if (fate === 'after' || fate === 'late' || this.isOut(process)) {
          this.repliesLost++;
          return fail(this.latency(false), 'unknown');
        }
        const wait = this.latency(fate === 'slow' && !slowly);
        if (outcome.ok) reply(wait, () => sender.resolve(outcome.value));
        else reply(wait, () => sender.reject(outcome.error));
      });
    });
  }

  /** Waits for the fence rows that the statement names, then runs it. A late statement is answered before it runs. */
  private arrive(method: keyof Statements, fenced: Fenced, isLate: boolean, answer: (outcome: Outcome) => void): void {
    const { world, random, slowMs } = this.deps;
    const slots = this.slotsOf(method, fenced);
    const freeAt = Math.max(0, ...slots.map((slot) => this.heldUntil.get(slot) ?? 0));
    if (freeAt > world.now) {
      world.schedule(freeAt - world.now, null, () => this.arrive(method, fenced, isLate, answer));
      return;
    }
    if (!isLate) return answer(this.run(method, fenced));
    const takes = random.between(5, slowMs);
    for (const slot of slots) this.heldUntil.set(slot, world.now + takes);
    world.schedule(takes, null, () => this.run(method, fenced));
    answer({ ok: true, value: undefined });
  }

  private run(method: keyof Statements, params: unknown): Outcome {
    try {
      return { ok: true, value: this.deps.apply(method, params) };
    } catch (error) {
      return { ok: false, error };
    }
  }

  private slotsOf(method: keyof Statements, { slotId, runnerId }: Fenced): string[] {
    if (slotId !== undefined) return [slotId];
    if (method !== 'runnerDeclareDead' && method !== 'runnerStop') return [];
    return [...this.deps.tables.slots.values()].filter((slot) => slot.runnerId === runnerId).map(({ id }) => id);
  }

  private drawFate(): Fate | null {
    const { random, fates, isStormy } = this.deps;
    const drawn = random.next();
    if (!isStormy()) return null;
    let limit = 0;
    for (const fate of FATES) {
      limit += fates[fate];
      if (drawn < limit) return fate;
    }
    return null;
  }

  private latency(slow: boolean): number {
    const { random, slowMs } = this.deps;
    return slow ? random.between(20, slowMs) : 0.1 + random.next() * 2;
  }

  private isOut({ cutOffUntil }: Process): boolean {
    return this.deps.world.now < Math.max(this.outageUntil, cutOffUntil);
  }
}

/** Listens on the line of one process. */
export interface Tap {
  /** May decide the fate of the statement. */
  readonly sent: (method: string) => Fate | null;
  readonly heard: (method: string, params: unknown, reply: unknown, sentAt: number) => void;
}

interface Sender {
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };
