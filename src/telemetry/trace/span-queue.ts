// How many spans wait to be sent. When the collector is too slow for them the rest is dropped, and that is said: once when it
// begins, and once with the number when there is room again.

/** Beyond this they are dropped: traces are not worth the memory of the process. */
export const MAX_WAITING_SPANS = 16_384;

export class SpanQueue {
  private readonly warn: (event: string, details: Record<string, unknown>) => void;
  private waiting = 0;
  private dropped = 0;

  constructor(warn: SpanQueue['warn']) {
    this.warn = warn;
  }

  /** Whether there is room for one more, which then waits. */
  takes(): boolean {
    if (this.waiting < MAX_WAITING_SPANS) {
      this.waiting++;
      return true;
    }
    if (this.dropped++ === 0) {
      this.warn('spans are dropped: the collector is too slow for them', { waiting: this.waiting });
    }
    return false;
  }

  /** So many are on their way. */
  left(count: number): void {
    this.waiting -= count;
    if (this.dropped === 0 || this.waiting > MAX_WAITING_SPANS / 2) return;
    this.warn('spans were dropped', { spans: this.dropped });
    this.dropped = 0;
  }
}
