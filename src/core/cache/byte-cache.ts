// Keeps what is costly to make, up to a budget of bytes: a thousand small things or ten large ones. What was used least recently goes
// first. A budget by count would be round-robin's victim at one more than it holds, and no bound of memory.

export class ByteCache<Value> {
  private readonly maxBytes: number;
  private readonly entries = new Map<string, { readonly value: Value; readonly bytes: number }>();
  private used = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
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
    // Last in the map is youngest in use.
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }

  /** `bytes`: about what it takes. One that alone is larger than the budget is not kept. */
  set(key: string, value: Value, bytes: number): void {
    this.delete(key);
    if (bytes > this.maxBytes) return;
    this.entries.set(key, { value, bytes });
    this.used += bytes;
    for (const oldest of this.entries.keys()) {
      if (this.used <= this.maxBytes) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    this.entries.delete(key);
    this.used -= entry.bytes;
  }
}
