// Caps the number of series of a label. Users choose the names of workflows and tenants, and each name is a series that stays in
// memory and is sent with every scrape.

export const OTHER = 'other';
const MOST_NAMES = 1_000;

/** The name itself for the first thousand names, then `other`. */
export function seriesCap(most = MOST_NAMES): (name: string) => string {
  const names = new Set<string>();
  return (name) => {
    if (names.has(name)) return name;
    if (names.size >= most) return OTHER;
    names.add(name);
    return name;
  };
}

/** The largest ones by name, and the sum of the rest as `other`. */
export function largest(counts: ReadonlyMap<string, number>, most = MOST_NAMES): [name: string, count: number][] {
  if (counts.size <= most) return [...counts];
  const sorted = [...counts].sort(([, one], [, other]) => other - one);
  const rest = sorted.slice(most).reduce((sum, [, count]) => sum + count, 0);
  return [...sorted.slice(0, most), [OTHER, rest]];
}
