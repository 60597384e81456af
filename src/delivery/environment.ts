// What delivery needs from outside besides the store: time, and somebody to tell. All of it comes in here, so that tests and
// the simulation run this very code on a clock of their own.

/** What an operator would like to know. Implementations log and count; delivery never depends on them. */
export interface DeliveryObserver {
  warn(event: string, details: Record<string, unknown>): void;
  /** One event of an execution that did not reach the bus: a consumer's kind. */
  publishFailed?(bus: string): void;
}

export interface DeliveryOptions {
  /** What nobody confirmed as delivered is sent again after so long. */
  readonly deliveredAfterMs: number;
  /** What is delivered but not processed is reminded of after so long. */
  readonly processedAfterMs: number;
  readonly resendCapMs: number;
  /** 0: no attempt is the last. */
  readonly maxAttempts: number;
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
  concurrency: 16,
  timeoutMs: 15_000,
  drainMs: 10_000,
  circuitFailures: 5,
};
