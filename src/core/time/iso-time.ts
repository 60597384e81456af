// Times as data: milliseconds since the epoch to and from ISO 8601, by arithmetic alone. No clock, no locale and no zone of the machine,
// so the same text gives the same time everywhere (S3). Pure.

const DAY_MS = 86_400_000;
const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:?\d\d))?$/;
const OFFSET = /^([+-])(\d\d):?(\d\d)$/;

/** A date, or a date with a time and a zone; NaN for anything else. */
export function parseIso(text: string): number {
  const parts = ISO.exec(text);
  if (parts === null) return Number.NaN;
  const [year, month, day, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map((part) => Number(part ?? 0));
  const days = daysFromCivil(year!, month!, day!);
  if (!isDate(year!, month!, day!) || hour > 23 || minute > 59 || second > 59) return Number.NaN;
  const fraction = Math.floor(Number(`0.${parts[7] ?? '0'}`) * 1_000);
  const offset = offsetMs(parts[8] ?? 'Z');
  return days * DAY_MS + hour * 3_600_000 + minute * 60_000 + second * 1_000 + fraction - offset!;
}

/** `2026-02-10T12:34:56.000Z`; null: the time cannot be written. */
export function toIso(ms: number): string | null {
  if (!Number.isFinite(ms)) return null;
  const whole = Math.floor(ms);
  const days = Math.floor(whole / DAY_MS);
  const time = whole - days * DAY_MS;
  const { year, month, day } = civilFromDays(days);
  if (year < 0 || year > 9_999) return null;
  // Every attempt needs this text, so it is assembled here instead of by a pattern.
  const date = `${padded(year, 4)}-${two(month)}-${two(day)}`;
  const hour = two(Math.floor(time / 3_600_000));
  const minute = two(Math.floor(time / 60_000) % 60);
  const second = two(Math.floor(time / 1_000) % 60);
  return `${date}T${hour}:${minute}:${second}.${padded(time % 1_000, 3)}Z`;
}

/**
 * `yyyy`, `MM`, `dd`, `HH`, `mm`, `ss` and `SSS` in a zone of a fixed offset (`Z`, `+02:00`). Other characters stay as they
 * are.
 */
export function formatTime(ms: number, pattern: string, zone: string): string | null {
  const offset = offsetMs(zone);
  if (offset === null || !Number.isFinite(ms)) return null;
  const local = Math.floor(ms) + offset;
  const days = Math.floor(local / DAY_MS);
  const time = local - days * DAY_MS;
  const { year, month, day } = civilFromDays(days);
  if (year < 0 || year > 9_999) return null;
  const values: Record<string, string> = {
    yyyy: padded(year, 4),
    MM: padded(month, 2),
    dd: padded(day, 2),
    HH: padded(Math.floor(time / 3_600_000), 2),
    mm: padded(Math.floor(time / 60_000) % 60, 2),
    ss: padded(Math.floor(time / 1_000) % 60, 2),
    SSS: padded(time % 1_000, 3),
  };
  return pattern.replaceAll(/yyyy|MM|dd|HH|mm|ss|SSS/g, (name) => values[name]!);
}

/**
 * Whether `formatTime` accepts the zone: a fixed offset. The meaning of a name such as Europe/Berlin changes with each
 * machine's tables.
 */
export const isZone = (text: string): boolean => offsetMs(text) !== null;

const two = (value: number): string => (value < 10 ? `0${value}` : `${value}`);

const padded = (value: number, length: number): string => String(value).padStart(length, '0');

/** null: not an offset. */
function offsetMs(zone: string): number | null {
  if (zone === 'Z' || zone === 'UTC') return 0;
  const parts = OFFSET.exec(zone);
  if (parts === null) return null;
  const ms = Number(parts[2]) * 3_600_000 + Number(parts[3]) * 60_000;
  return parts[1] === '-' ? -ms : ms;
}

function isDate(year: number, month: number, day: number): boolean {
  const written = civilFromDays(daysFromCivil(year, month, day));
  return written.year === year && written.month === month && written.day === day;
}

/** Days since 1970-01-01, in the Gregorian calendar. Years begin in March, so that the leap day is the last. */
function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

function civilFromDays(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth + (shiftedMonth < 10 ? 3 : -9);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}
