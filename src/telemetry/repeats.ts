// Suppresses repeated warnings. During an outage a service warns several times a second. The log gets the first line; then, while
// nothing changes, one line a minute with the number of suppressed ones.

const TELL_EVERY_MS = 60_000;
/** More distinct warnings than this are not repeats. */
const MOST_KEPT = 500;

type Details = Record<string, unknown>;

/** Returns the line to log; null: the same line was logged a moment ago. Only failures are suppressed. */
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
