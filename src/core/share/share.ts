// How shared places are divided between tenants (I22). One tenant alone may hold `total` places. A quarter more is reserved for
// the others, and the more of that is taken, the less each tenant may hold. With n greedy tenants each ends up with 5 · total /
// (1 + 4n): all of `total` alone, 56 % each with two, 38 % each with three. A tenant without a place still gets one, up to twice
// `total`: places may be held for hours and nobody can be evicted, so a newcomer must not depend on the others.

/** Whether a tenant that holds `held` of the `used` places may have one more. */
export const mayHoldOneMore = (held: number, used: number, total: number): boolean =>
  held + 4 * used < 5 * total || (held === 0 && used < 2 * total);

/** How many more places a tenant may take, if no other tenant takes any meanwhile. */
export function shareLeft(held: number, used: number, total: number): number {
  const more = Math.ceil((5 * total - held - 4 * used) / 5);
  return Math.max(more, mayHoldOneMore(held, used, total) ? 1 : 0);
}

/** Places shared by name: by tenant, or by address for unauthenticated callers. */
export class SharedPlaces {
  readonly total: number;
  private readonly held = new Map<string, number>();
  private taken = 0;

  constructor(total: number) {
    this.total = total;
  }

  get used(): number {
    return this.taken;
  }

  heldBy(name: string): number {
    return this.held.get(name) ?? 0;
  }

  has(name: string): boolean {
    return mayHoldOneMore(this.heldBy(name), this.taken, this.total);
  }

  take(name: string): void {
    this.held.set(name, this.heldBy(name) + 1);
    this.taken++;
  }

  giveBack(name: string): void {
    const left = this.heldBy(name) - 1;
    if (left > 0) this.held.set(name, left);
    else this.held.delete(name);
    this.taken--;
  }

  /** The largest holders first. */
  holders(limit: number): { name: string; held: number }[] {
    const all = [...this.held].map(([name, held]) => ({ name, held }));
    return all.sort((one, other) => other.held - one.held).slice(0, limit);
  }
}
