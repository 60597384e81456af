// What delivery needs from outside besides the store: time, and somebody to tell. All of it comes in here, so that tests and
// the simulation run this very code on a clock of their own.

/** Observations for operators. Implementations log and count them; delivery never depends on them. */
export interface DeliveryObserver {
  warn(event: string, details: Record<string, unknown>): void;
  /** One event of an execution that did not reach the bus: a consumer's kind. */
  publishFailed?(bus: string): void;
  /** A message that the bus did not take in any of its attempts is a dead letter. */
  buried?(bus: string): void;
}

export interface DeliveryOptions {
  /** How long to wait for confirmation before a message is sent again. */
  readonly deliveredAfterMs: number;
  /** How long to wait for processing before a reminder is sent. */
  readonly processedAfterMs: number;
  readonly resendCapMs: number;
  /** 0: no attempt is the last. */
  readonly maxAttempts: number;
  /** The same for a bus, where `maxAttempts` says nothing. */
  readonly busMaxAttempts: number;
  /** Of consumers that do not say. */
  readonly concurrency: number;
  /** How long a webhook or a bus has for its answer. */
  readonly timeoutMs: number;
  /** How long a graceful stop waits for what is on its way. */
  readonly drainMs: number;
  /** Failures in a row after which a consumer is tried with one message at a time. */
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
