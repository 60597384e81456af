// A service that cannot reach the database warns at every look, several times a second for as long as the outage lasts. The log gets
// the first of these lines; while nothing about them changes, one a minute with the number of those that were left out.

const TELL_EVERY_MS = 60_000;
/** More different warnings than that are not repeats. */
const MOST_KEPT = 500;

type Details = Record<string, unknown>;

/** Gives what is to be logged of a warning; null: the same line was logged a moment ago. Only failures repeat themselves. */
export function withoutRepeats(nowMs: () => number = () => performance.now()) {
  const told = new Map<string, { at: number; leftOut: number }>();
  return (event: string, details: Details): Details | null => {
    if (details.error === undefined) return details;
    const line = `${event} ${JSON.stringify(details)}`;
    const last = told.get(line);
    if (last !== undefined && nowMs() < last.at + TELL_EVERY_MS) {
      last.leftOut++;
      return null;
    }
    if (told.size >= MOST_KEPT) told.clear();
    told.set(line, { at: nowMs(), leftOut: 0 });
    return last === undefined || last.leftOut === 0 ? details : { ...details, repeated: last.leftOut };
  };
}
