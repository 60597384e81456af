// How many series a label may make. Names of workflows and tenants are given by those who use the installation, and each name is a
// series that is kept for as long as the process lives and sent with every scrape.

export const OTHER = 'other';
const MOST_NAMES = 1_000;

/** The name itself for the first thousand names, `other` for all that come after them. */
export function seriesCap(most = MOST_NAMES): (name: string) => string {
  const names = new Set<string>();
  return (name) => {
    if (names.has(name)) return name;
    if (names.size >= most) return OTHER;
    names.add(name);
    return name;
  };
}

/** Those with the most, each by its name, and the rest together as `other`. */
export function largest(counts: ReadonlyMap<string, number>, most = MOST_NAMES): [name: string, count: number][] {
  if (counts.size <= most) return [...counts];
  const sorted = [...counts].sort(([, one], [, other]) => other - one);
  const rest = sorted.slice(most).reduce((sum, [, count]) => sum + count, 0);
  return [...sorted.slice(0, most), [OTHER, rest]];
}
