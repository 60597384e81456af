// By key, values that come and go by the thousand a second. A plain Map that is refilled again and again leaves its used-up tables
// behind; one of them that is old enough to wait for a full collection keeps the values that it held last in memory until then,
// with all that hangs on them. Half of all executions were copied and promoted that way, which took half of the CPU time that
// was spent in JavaScript (docs/decisions/0020). Here such tables hold keys and numbers; values lie in places that are used again.

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

  /** In the order in which their keys came. */
  *values(): Iterable<Value> {
    for (const place of this.places.values()) yield this.slots[place]!;
  }
}
