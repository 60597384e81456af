// Whether a consumer is worth trying. After some failures in a row it gets one message every now and then, until one arrives;
// then it gets everything again. What is not tried costs the consumer nothing: it stays due, and its attempts are not counted.

export class Circuit {
  private readonly failuresToOpen: number;
  private readonly probeMs: number;
  private failures = 0;
  private probeAt = 0;

  constructor(options: { readonly failuresToOpen: number; readonly probeMs: number }) {
    this.failuresToOpen = options.failuresToOpen;
    this.probeMs = options.probeMs;
  }

  get isOpen(): boolean {
    return this.failures >= this.failuresToOpen;
  }

  /** How many may be on their way, of those that have room. */
  room(now: number, free: number, inFlight: number): number {
    if (!this.isOpen) return free;
    return inFlight === 0 && now >= this.probeAt ? Math.min(1, free) : 0;
  }

  /** How long until the next try; null: no need to wait. */
  waitMs(now: number): number | null {
    return this.isOpen ? Math.max(0, this.probeAt - now) : null;
  }

  succeeded(): void {
    this.failures = 0;
  }

  /** True: this failure was one too many. */
  failed(now: number): boolean {
    this.failures++;
    if (this.isOpen) this.probeAt = now + this.probeMs;
    return this.failures === this.failuresToOpen;
  }
}
