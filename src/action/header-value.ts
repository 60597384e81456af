// Values of HTTP headers that need care: what may be written into one, and the meaning of Retry-After.

/** For ids and names that may contain anything: characters that HTTP does not allow are percent-encoded. */
export function safeHeaderValue(value: string): string {
  if (PRINTABLE.test(value)) return value;
  return value.toWellFormed().replace(/[^\u0020-\u007e]/gu, (character) => encodeURIComponent(character));
}

const PRINTABLE = /^[\u0020-\u007e]*$/;

const MAX_RETRY_AFTER_MS = 3_600_000;

/** Seconds or an HTTP date; null if it is absent, invalid or in the past. */
export function retryDelay(retryAfter: string | undefined, now: number): number | null {
  if (retryAfter === undefined) return null;
  const text = retryAfter.trim();
  const delay = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return delay > 0 ? Math.min(delay, MAX_RETRY_AFTER_MS) : null;
}
