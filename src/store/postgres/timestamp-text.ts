// Parses PostgreSQL's ISO times: `2026-01-31 10:20:30.123456+00`. Our own connections use UTC, an application's may not.
// Microseconds are cut off, so a time is never in the future. Claims and loads bring several per row, so in the usual shape
// digits are read in place, without a string in between.

const SPACE = 32;
const DOT = 46;
const ZERO = 48;
const FRACTION = 20;
const UTC = '+00';
const ZONE = /[+-]\d\d(?::\d\d)?$/;

export function parseTimestamp(value: string): number {
  const isUsual = value.charCodeAt(10) === SPACE && value.charCodeAt(FRACTION - 1) === DOT && value.endsWith(UTC);
  const year = twoDigits(value, 0) * 100 + twoDigits(value, 2);
  // Date.UTC takes a two-digit year for one of the last century.
  if (!isUsual || year < 100) return parseAnyTimestamp(value);
  const [month, day] = [twoDigits(value, 5) - 1, twoDigits(value, 8)];
  return Date.UTC(year, month, day, twoDigits(value, 11), twoDigits(value, 14), twoDigits(value, 17), fraction(value));
}

function fraction(value: string): number {
  let milliseconds = 0;
  let digits = 0;
  for (; digits < 3 && value.charCodeAt(FRACTION + digits) >= ZERO; digits++) {
    milliseconds = milliseconds * 10 + value.charCodeAt(FRACTION + digits) - ZERO;
  }
  return digits === 3 ? milliseconds : milliseconds * (digits === 2 ? 10 : 100);
}

function twoDigits(value: string, at: number): number {
  return (value.charCodeAt(at) - ZERO) * 10 + value.charCodeAt(at + 1) - ZERO;
}

/** Whole seconds, years of more than four digits, and other zones. */
function parseAnyTimestamp(value: string): number {
  const dateEnd = value.indexOf(' ');
  const year = dateEnd > 10 ? `+${value.slice(0, dateEnd).padStart(12, '0')}` : value.slice(0, dateEnd);
  const [zone] = ZONE.exec(value) ?? [UTC];
  const time = value.slice(dateEnd + 1, Math.min(value.length - zone.length, dateEnd + 13));
  return Date.parse(`${year}T${time}${zone.length === UTC.length ? `${zone}:00` : zone}`);
}
