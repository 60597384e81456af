// What delivery needs from outside besides the store: time, and an observer. Tests and the simulation pass their own, so they run
// the same code on their own clock.

/** Observations for operators. Implementations log and count them; delivery never depends on them. */
export interface DeliveryObserver {
  warn(event: string, details: Record<string, unknown>): void;
  /** An event of an execution did not reach the bus; `bus` is the consumer's kind. */
  publishFailed?(bus: string): void;
  /** A message that the bus refused in all attempts is a dead letter. */
  buried?(bus: string): void;
}

export interface DeliveryOptions {
  /** How long to wait for confirmation before a message is sent again. */
  readonly deliveredAfterMs: number;
  /** How long to wait for processing before a reminder is sent. */
  readonly processedAfterMs: number;
  readonly resendCapMs: number;
  /** 0: unlimited. */
  readonly maxAttempts: number;
  /** The same for a bus, to which `maxAttempts` does not apply. */
  readonly busMaxAttempts: number;
  /** Default for consumers that do not set it. */
  readonly concurrency: number;
  /** How long a webhook or bus may take to answer. */
  readonly timeoutMs: number;
  /** How long a graceful stop waits for deliveries in flight. */
  readonly drainMs: number;
  /** Failures in a row after which a consumer gets one message at a time. */
  readonly circuitFailures: number;
}

export const DEFAULT_DELIVERY_OPTIONS: DeliveryOptions = {
  deliveredAfterMs: 30_000,
  processedAfterMs: 300_000,
  resendCapMs: 300_000,
  maxAttempts: 0,
  busMaxAttempts: 20,
  concurrency: 16,
  timeoutMs: 15_000,
  drainMs: 10_000,
  circuitFailures: 5,
};
