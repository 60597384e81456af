// How long an engine takes to start a run, and whether it accepts runs at all. When one start in twenty takes over five seconds,
// new runs are refused with 503, and repeated callers are asked to wait longer each time.

export interface StartLatency {
  took(ms: number): void;
  /** The engine could not be reached. */
  failed(): void;
  /** The engine can be reached. */
  answered(): void;
  p95Ms(): number | null;
  /** The Retry-After in seconds; null: runs are accepted. */
  refusal(): { readonly reason: 'slow' | 'down'; readonly retryAfterS: number } | null;
}

const KEPT = 100;
const FEWEST = 5;
const SLOW_MS = 5_000;
/** Failures in a row after which the engine counts as down. */
const DOWN_AFTER = 2;
const LONGEST_WAIT_S = 60;
/** Older measurements say nothing about now, so one start is let through to measure again. */
const STALE_MS = 30_000;

export function createStartLatency(monotonicMs: () => number): StartLatency {
  let seen: { at: number; ms: number }[] = [];
  let failures = 0;
  let refusals = 0;
  let lastAt = 0;

  function p95(): number | null {
    const now = monotonicMs();
    seen = seen.filter(({ at }) => now - at < STALE_MS).slice(-KEPT);
    if (seen.length < FEWEST) return null;
    const sorted = seen.map(({ ms }) => ms).sort((a, b) => a - b);
    // A single slow start is chance.
    return sorted[Math.min(Math.ceil(sorted.length * 0.95) - 1, sorted.length - 2)]!;
  }

  return {
    took(ms) {
      seen.push({ at: monotonicMs(), ms });
      lastAt = monotonicMs();
      failures = 0;
    },
    answered() {
      failures = 0;
    },
    failed() {
      failures++;
      lastAt = monotonicMs();
    },
    p95Ms: p95,
    refusal() {
      const isDown = failures >= DOWN_AFTER && monotonicMs() - lastAt < STALE_MS;
      const isSlow = (p95() ?? 0) > SLOW_MS;
      if (!isDown && !isSlow) {
        refusals = 0;
        return null;
      }
      refusals++;
      return { reason: isDown ? 'down' : 'slow', retryAfterS: Math.min(2 ** Math.min(refusals, 6), LONGEST_WAIT_S) };
    },
  };
}
