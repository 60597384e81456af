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

  /** How many may be claimed, of those that there is room for. */
  room(now: number, wanted: number, isIdle: boolean): number {
    if (!this.isOpen) return wanted;
    return isIdle && now >= this.probeAt ? Math.min(1, wanted) : 0;
  }

  /** Of an open one: how long until the next try. */
  waitMs(now: number): number {
    return Math.max(0, this.probeAt - now);
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
