// "Did you mean …?": the closest of some names, if it is close enough to be a slip of the keyboard.

const MAX_NAME_LENGTH = 64;
const MAX_CANDIDATES = 500;

export function nearMiss(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return undefined;
  const allowed = slipsIn(name);
  let best: string | undefined;
  let bestDistance = allowed + 1;
  let seen = 0;
  for (const candidate of candidates) {
    if (++seen > MAX_CANDIDATES) break;
    if (candidate === name || Math.abs(candidate.length - name.length) > allowed) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Every other letter is one slip away from a single letter, so there only its case counts. */
function slipsIn({ length }: string): number {
  if (length === 1) return 0;
  return length <= 3 ? 1 : 2;
}

/** Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
function editDistance(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      const replaced = previous[column - 1]! + (same ? 0 : 1);
      let distance = Math.min(replaced, previous[column]! + 1, current[column - 1]! + 1);
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) distance = Math.min(distance, beforePrevious[column - 2]! + 1);
      current.push(distance);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[to.length]!;
}
