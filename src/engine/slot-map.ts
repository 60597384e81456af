// A map for values that come and go by the thousand per second. A plain Map that is constantly refilled leaves its old tables
// behind. A table old enough to wait for a full collection keeps the values it last held alive until then, with everything they
// reference. Half of all executions were copied and promoted that way, at half of the JavaScript CPU time (docs/decisions/0020).
// Here such tables hold keys and numbers; values are in places that are reused.

export class SlotMap<Value> {
  private readonly places = new Map<string, number>();
  private readonly slots: (Value | undefined)[] = [];
  private readonly free: number[] = [];

  get size(): number {
    return this.places.size;
  }

  has(key: string): boolean {
    return this.places.has(key);
  }

  get(key: string): Value | undefined {
    const place = this.places.get(key);
    return place === undefined ? undefined : this.slots[place];
  }

  set(key: string, value: Value): void {
    const place = this.places.get(key) ?? this.free.pop() ?? this.slots.length;
    this.places.set(key, place);
    this.slots[place] = value;
  }

  delete(key: string): void {
    const place = this.places.get(key);
    if (place === undefined) return;
    this.places.delete(key);
    this.slots[place] = undefined;
    this.free.push(place);
  }

  clear(): void {
    this.places.clear();
    this.slots.length = 0;
    this.free.length = 0;
  }

  keys(): Iterable<string> {
    return this.places.keys();
  }

  /** In the order of their keys' insertion. */
  *values(): Iterable<Value> {
    for (const place of this.places.values()) yield this.slots[place]!;
  }
}
