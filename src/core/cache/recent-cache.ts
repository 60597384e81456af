// Keeps values that are costly to make, up to a budget. The caller decides how the budget is counted: bytes, so that a thousand small
// values or ten large ones fit, or entries. The least recently used value goes first.

export class RecentCache<Value> {
  private readonly budget: number;
  private readonly entries = new Map<string, { readonly value: Value; readonly cost: number }>();
  private used = 0;

  constructor(budget: number) {
    this.budget = budget;
  }

  get size(): number {
    return this.entries.size;
  }

  has(key: string): boolean {
    return this.entries.has(key);
  }

  get(key: string): Value | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    // A Map keeps the order of insertion, so the last key is the most recently used.
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }

  /** The value kept under `key`, or a new one, which is kept at `cost`. */
  getOrMake(key: string, cost: number, make: () => Value): Value {
    const known = this.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.set(key, made, cost);
    return made;
  }

  /** A value that costs more than the whole budget is not kept. */
  set(key: string, value: Value, cost = 1): void {
    this.delete(key);
    if (cost > this.budget) return;
    this.entries.set(key, { value, cost });
    this.used += cost;
    for (const oldest of this.entries.keys()) {
      if (this.used <= this.budget) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    this.entries.delete(key);
    this.used -= entry.cost;
  }
}
