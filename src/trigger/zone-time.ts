// Wall clocks of time zones: the local time at an instant, and the instant of a local time. A local time is a number: the
// milliseconds of the same date and time in UTC. A pure function of the time zone database.

export interface Zone {
  /** The time on the wall clock. */
  localAt(instant: number): number;
  /**
   * The one instant of a local time (I9): the first if the clock was set back and shows it twice, the moment of the change if
   * the clock was set forward and skips it.
   */
  instantOf(local: number): number;
}

const DAY_MS = 86_400_000;

/** Throws a RangeError for an unknown zone. */
export function zoneOf(name: string): Zone {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });

  function localAt(instant: number): number {
    const shown: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(instant)) shown[type] = Number(value);
    const { year, month, day, hour, minute, second } = shown;
    return Date.UTC(year!, month! - 1, day!, hour!, minute!, second!) + (((instant % 1000) + 1000) % 1000);
  }

  const offsetAt = (instant: number): number => localAt(instant) - instant;

  function instantOf(local: number): number {
    const before = offsetAt(local - DAY_MS);
    const after = offsetAt(local + DAY_MS);
    // Where the clock is set back both are right; the offset before the change gives the earlier one.
    for (const instant of [local - before, local - after]) if (localAt(instant) === local) return instant;
    return changeBetween(local - after, local - before, after);
  }

  /** The first instant with the new offset, after `from` and not after `to`. */
  function changeBetween(from: number, to: number, offset: number): number {
    let [early, late] = [Math.floor(from / 1000), Math.ceil(to / 1000)];
    while (late - early > 1) {
      const middle = Math.floor((early + late) / 2);
      if (offsetAt(middle * 1000) === offset) late = middle;
      else early = middle;
    }
    return late * 1000;
  }

  return { localAt, instantOf };
}
