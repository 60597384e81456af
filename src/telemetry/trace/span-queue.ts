// Counts the spans that wait to be sent. When the collector is too slow, further spans are dropped, with a warning when that
// begins and another with the number when there is room again.

/** Above this spans are dropped: traces are not worth the memory. */
export const MAX_WAITING_SPANS = 16_384;

export class SpanQueue {
  private readonly warn: (event: string, details: Record<string, unknown>) => void;
  private waiting = 0;
  private dropped = 0;

  constructor(warn: SpanQueue['warn']) {
    this.warn = warn;
  }

  /** Whether there is room for one more span, which then counts as waiting. */
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

  /** This many were sent. */
  left(count: number): void {
    this.waiting -= count;
    if (this.dropped === 0 || this.waiting > MAX_WAITING_SPANS / 2) return;
    this.warn('spans were dropped', { spans: this.dropped });
    this.dropped = 0;
  }
}
