// Which runners are told of new work: only as many as needed. If all were told, each start would cost a query in every runner of
// the fleet. If each note went to another runner, a burst would be cut into small claims and commits. So runners take turns by
// the clock: within a turn the first one that keeps up is told, plus as many more as the executions of one note need. All
// processes know the same runners and have about the same clock, so they choose the same ones without talking.

const TURN_MS = 1_000;
/** The most executions of one note for one runner, however much room it has: others would stand idle. */
const MOST_PER_RUNNER = 256;

export interface Room {
  /** How many executions the runner would take. */
  readonly places: number;
  /** It is late with its work: others are told first. */
  readonly isPressed: boolean;
}

export class RoomList {
  private readonly rooms = new Map<string, Room & { readonly heardAt: number }>();
  private readonly knownForMs: number;

  /** `knownForMs`: how long a runner counts as having room without news. */
  constructor(knownForMs: number) {
    this.knownForMs = knownForMs;
  }

  heard(runner: string, room: Room, now: number): void {
    if (room.places > 0) this.rooms.set(runner, { ...room, heardAt: now });
    else this.forget(runner);
  }

  forget(runner: string): void {
    this.rooms.delete(runner);
  }

  /** The runners to tell of this many ready executions; empty if none has room. `time` is common to all processes, in ms. */
  choose(ready: number, { now, time }: { readonly now: number; readonly time: number }): string[] {
    for (const [runner, { heardAt }] of this.rooms) if (heardAt < now - this.knownForMs) this.rooms.delete(runner);
    const runners = [...this.rooms.keys()].sort();
    const first = Math.floor(time / TURN_MS) % Math.max(1, runners.length);
    const inTurn = [...runners.slice(first), ...runners.slice(0, first)];
    const chosen: string[] = [];
    let left = Math.max(1, ready);
    for (const runner of inTurn.sort((one, other) => this.order(one) - this.order(other))) {
      if (left <= 0) break;
      chosen.push(runner);
      left -= Math.min(this.rooms.get(runner)!.places, MOST_PER_RUNNER);
    }
    return chosen;
  }

  private order(runner: string): number {
    return this.rooms.get(runner)!.isPressed ? 1 : 0;
  }
}
