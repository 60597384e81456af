// A gate with limited room. Callers that wait take turns by name: a thousand requests of one name delay another name's first
// request by one turn (I22). One name may take at most four fifths of the room, so that a newcomer does not wait for long work. A
// request larger than the whole room goes in alone.

/** The program itself, which is limited by the room alone. */
export const NOBODY = '';

const SHARE = 0.8;

interface Waiting {
  readonly weight: number;
  readonly admit: () => void;
}

export class FairGate {
  private readonly room: number;
  private readonly most: number;
  private used = 0;
  private readonly held = new Map<string, number>();
  private readonly lines = new Map<string, Waiting[]>();

  constructor(room: number) {
    this.room = room;
    this.most = Math.max(1, Math.floor(room * SHARE));
  }

  get waiting(): number {
    let count = 0;
    for (const line of this.lines.values()) count += line.length;
    return count;
  }

  async pass<Result>(name: string, weight: number, work: () => Promise<Result>): Promise<Result> {
    if (this.lines.has(name) || !this.fits(name, weight)) await this.turn(name, weight);
    else this.take(name, weight);
    try {
      return await work();
    } finally {
      this.leave(name, weight);
    }
  }

  private turn(name: string, weight: number): Promise<void> {
    return new Promise((admit) => {
      const line = this.lines.get(name);
      if (line === undefined) this.lines.set(name, [{ weight, admit }]);
      else line.push({ weight, admit });
    });
  }

  private fits(name: string, weight: number): boolean {
    return this.hasRoom(weight) && this.isWithinShare(name, weight);
  }

  private hasRoom(weight: number): boolean {
    return this.used === 0 || this.used + weight <= this.room;
  }

  private isWithinShare(name: string, weight: number): boolean {
    const held = this.held.get(name) ?? 0;
    return name === NOBODY || held === 0 || held + weight <= this.most;
  }

  private take(name: string, weight: number): void {
    this.used += weight;
    this.held.set(name, (this.held.get(name) ?? 0) + weight);
  }

  private leave(name: string, weight: number): void {
    this.used -= weight;
    const left = this.held.get(name)! - weight;
    if (left > 0) this.held.set(name, left);
    else this.held.delete(name);
    while (this.admitNext());
  }

  /**
   * Admits the first in turn whose share is not used up. If that one is too large for the room that is left, everybody waits
   * for it.
   */
  private admitNext(): boolean {
    for (const [name, line] of this.lines) {
      const [first] = line as [Waiting];
      if (!this.isWithinShare(name, first.weight)) continue;
      if (!this.hasRoom(first.weight)) return false;
      line.shift();
      this.lines.delete(name);
      if (line.length > 0) this.lines.set(name, line);
      this.take(name, first.weight);
      first.admit();
      return true;
    }
    return false;
  }
}
