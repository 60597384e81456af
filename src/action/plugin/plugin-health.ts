// Whether a plugin version can be trusted, by its last calls. Too many broken calls put it into quarantine for a while. Pure.

export interface HealthOptions {
  /** The number of last calls that count. */
  readonly window: number;
  /** Fewer calls prove nothing. */
  readonly least: number;
  /** The share of broken calls from which on it is in quarantine. */
  readonly threshold: number;
  readonly quarantineMs: number;
}

export const HEALTH: HealthOptions = { window: 20, least: 5, threshold: 0.5, quarantineMs: 3_600_000 };

export interface Health {
  /** The last calls, newest last; true = fine. */
  readonly calls: readonly boolean[];
  readonly quarantinedUntil: number | null;
}

export const HEALTHY: Health = { calls: [], quarantinedUntil: null };

export function isQuarantined({ quarantinedUntil }: Health, now: number): boolean {
  return quarantinedUntil !== null && now < quarantinedUntil;
}

/** After a quarantine it starts afresh. */
export function afterCall(health: Health, isWell: boolean, now: number, options: HealthOptions = HEALTH): Health {
  if (isQuarantined(health, now)) return health;
  const before = health.quarantinedUntil === null ? health.calls : [];
  const calls = [...before, isWell].slice(-options.window);
  const broken = calls.filter((call) => !call).length;
  const isBad = calls.length >= options.least && broken / calls.length >= options.threshold;
  return { calls: isBad ? [] : calls, quarantinedUntil: isBad ? now + options.quarantineMs : null };
}

/** The highest lower version that can be trusted; null: none. */
export function lastGood(
  versions: readonly string[],
  below: string,
  isGood: (version: string) => boolean,
): string | null {
  const earlier = versions.filter((version) => compareVersions(version, below) < 0 && isGood(version));
  return earlier.toSorted(compareVersions).at(-1) ?? null;
}

/** By the numbers of semantic versions, then by text; a release is above its previews. */
export function compareVersions(a: string, b: string): number {
  const [aNumbers, aRest] = partsOf(a);
  const [bNumbers, bRest] = partsOf(b);
  for (let index = 0; index < 3; index++) {
    const difference = (aNumbers[index] ?? 0) - (bNumbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (aRest === bRest) return 0;
  if (aRest === '' || bRest === '') return aRest === '' ? 1 : -1;
  return aRest < bRest ? -1 : 1;
}

function partsOf(version: string): [number[], string] {
  const [numbers = '', ...rest] = version.split('+')[0]!.split('-');
  return [numbers.split('.').map((part) => Number.parseInt(part, 10) || 0), rest.join('-')];
}
