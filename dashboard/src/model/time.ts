// Times and durations as people read them. The present is given, never asked for; the zone is the reader's choice.

const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];

/** `1.19 s`, `4 min 12 s`, `398 ms`: two units at most. */
export function durationText(ms: number): string {
  if (!Number.isFinite(ms)) return '–';
  if (ms < 0) return '0 ms';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(2).replace(/\.?0+$/, '')} s`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1).replace(/\.0$/, '')} s`;
  const first = UNITS.findIndex(([, size]) => ms >= size);
  const [unit, size] = UNITS[first]!;
  const whole = Math.floor(ms / size);
  const next = UNITS[first + 1];
  const rest = next === undefined ? 0 : Math.floor((ms - whole * size) / next[1]);
  return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${next![0]}`;
}

/** Below three days hours tell more: `47 h` is not `1 d`. */
const HOURS_UP_TO_MS = 3 * 86_400_000;

/** In one unit: `4 s`, `12 min`, `47 h`, `3 d`. */
export function shortDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const [unit, size] = UNITS.find(([name, each]) => ms >= each && (name !== 'd' || ms >= HOURS_UP_TO_MS))!;
  return `${Math.floor(ms / size)} ${unit}`;
}

/** `now`, `4 s ago`, `in 2 min`. */
export function relativeText(at: number, now: number): string {
  const distance = now - at;
  if (Math.abs(distance) < 1_000) return 'now';
  return distance > 0 ? `${shortDuration(distance)} ago` : `in ${shortDuration(-distance)}`;
}

/** `local`, `UTC`, or the name of a zone. */
export type Zone = string;

const zoneOption = (zone: Zone): { timeZone?: string } => (zone === 'local' ? {} : { timeZone: zone });

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: Zone, kind: 'exact' | 'clock' | 'day'): Intl.DateTimeFormat {
  const key = `${zone} ${kind}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
  const day = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  const made = new Intl.DateTimeFormat('sv-SE', {
    ...zoneOption(zone),
    ...(kind === 'clock' ? clock : kind === 'day' ? day : { ...day, ...clock, fractionalSecondDigits: 3 }),
  });
  formats.set(key, made);
  return made;
}

/** `2026-11-18 02:30:00.123`, with the zone's name. */
export function exactText(at: number, zone: Zone): string {
  const text = formatOf(zone, 'exact').format(at).replace(',', '.');
  return `${text} ${zone === 'local' ? Intl.DateTimeFormat().resolvedOptions().timeZone : zone}`;
}

/** The time of day to the millisecond: `02:30:00.123`. */
export const preciseText = (at: number, zone: Zone): string => exactText(at, zone).split(' ')[1]!;

/** The time of day if it is today, otherwise the day too. */
export function clockText(at: number, now: number, zone: Zone): string {
  const day = formatOf(zone, 'day').format(at);
  const clock = formatOf(zone, 'clock').format(at);
  return day === formatOf(zone, 'day').format(now) ? clock : `${day.slice(5)} ${clock.slice(0, 5)}`;
}

export function isZone(text: string): boolean {
  if (text === 'local') return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

export const timeOf = (iso: string | undefined): number | undefined =>
  iso === undefined ? undefined : Date.parse(iso);
