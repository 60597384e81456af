// Virtual time, and the processes that live in it. Everything that happens is an event in one heap, taken in the order of its
// time; between two events all promise continuations run to their end (a turn of the real event loop), so a run depends only on
// its seed. A process that crashed gets none of its events any more; a paused process gets them late, all at once: a zombie.

import type { Timers } from '../../src/clock/timers.ts';

interface Event {
  readonly at: number;
  readonly order: number;
  readonly process: Process | null;
  run: (() => void) | null;
}

export class World {
  now = 0;
  events = 0;
  private readonly heap: Event[] = [];
  private order = 0;

  /** `process`: the process that the event belongs to; null = the outside world. Returns a function that cancels the event. */
  schedule(delayMs: number, process: Process | null, run: () => void): () => void {
    const event: Event = { at: this.now + Math.max(0, delayMs), order: this.order++, process, run };
    this.push(event);
    return () => {
      event.run = null;
    };
  }

  /** Runs until `isOver` returns true, or the time is up; false = time is up, or no event is left. */
  async runUntil(limitMs: number, isOver: () => boolean): Promise<boolean> {
    await turn();
    while (!isOver()) {
      const event = this.pop();
      if (event === undefined) return false;
      if (event.at > limitMs) {
        this.push(event);
        this.now = limitMs;
        return false;
      }
      this.now = Math.max(this.now, event.at);
      if (event.run === null || event.process?.isDead) continue;
      if (event.process !== null && event.process.pausedUntil > this.now) {
        this.push({ ...event, at: event.process.pausedUntil, run: event.run });
        continue;
      }
      this.events++;
      event.run();
      await turn();
    }
    return true;
  }

  private push(event: Event): void {
    const { heap } = this;
    let index = heap.length;
    heap.push(event);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = event;
  }

  private pop(): Event | undefined {
    const { heap } = this;
    const [first] = heap;
    const last = heap.pop();
    if (heap.length === 0 || last === undefined) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** A turn of the real event loop: every continuation that can run has run. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** An operating-system process: its memory is gone when it crashes. */
export class Process {
  readonly name: string;
  isDead = false;
  pausedUntil = 0;
  /** The process cannot reach the database before this time, and goes on all the same. */
  cutOffUntil = 0;
  readonly timers: Timers;

  constructor(world: World, name: string) {
    this.name = name;
    this.timers = {
      monotonicMs: () => world.now,
      after: (delayMs, callback) => world.schedule(delayMs, this, callback),
      soon: (callback) => void world.schedule(0, this, callback),
    };
  }

  /** For code of the simulation itself that runs in this process. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.timers.after(ms, resolve);
    });
  }
}
