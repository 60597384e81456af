// Whether a consumer is worth trying. After several failures in a row it gets one message at a time until one arrives, then
// everything again. Messages that are not tried stay due, and their attempts are not counted.

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

  /** How many deliveries may be claimed, given the room for them. */
  room(now: number, wanted: number, isIdle: boolean): number {
    if (!this.isOpen) return wanted;
    return isIdle && now >= this.probeAt ? Math.min(1, wanted) : 0;
  }

  /** How long until the next try of an open circuit. */
  waitMs(now: number): number {
    return Math.max(0, this.probeAt - now);
  }

  succeeded(): void {
    this.failures = 0;
  }

  /** true: this failure opened the circuit. */
  failed(now: number): boolean {
    this.failures++;
    if (this.isOpen) this.probeAt = now + this.probeMs;
    return this.failures === this.failuresToOpen;
  }
}
