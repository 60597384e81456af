// Durations as people write them in definitions: "30s", "5m", "2h", "1d". Everything inside the engine is
// milliseconds; this is the only place that knows the units.

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The form of a duration; MAX_DURATION_MS is its limit. */
export const DURATION = /^(\d{1,15}) ?(ms|s|m|h|d)$/;

/** Ten years: long enough for every real wait, and far from where adding it to a time stops being exact. */
export const MAX_DURATION_MS = 3_650 * 86_400_000;

/** For messages that refuse a text which parseDuration does not understand. */
export const DURATION_FORMS = '"500ms", "30s", "5m", "2h" or "1d"';

/** Milliseconds; null when the text is not a duration or is longer than MAX_DURATION_MS. */
export function parseDuration(text: string): number | null {
  const match = DURATION.exec(text);
  if (match === null) return null;
  const ms = Number(match[1]) * UNIT_MS[match[2]!]!;
  return ms <= MAX_DURATION_MS ? ms : null;
}
