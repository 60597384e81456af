// Lists that are short enough to come whole. Whoever pages through every list alike asks them for a `limit` too, and gets pages.
// They are in the order of their keys ("9" before "10").

import { cursorAfter, placeOf } from './cursor.ts';

const collator = new Intl.Collator('en', { numeric: true });

export function shortList<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  { limit, cursor }: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
): { data: readonly Item[]; nextCursor?: string } {
  const sorted = items.toSorted((left, right) => compareKeys(keyOf(left), keyOf(right)));
  const place = cursor === undefined ? null : placeOf(cursor);
  const rest = place === null ? sorted : sorted.filter((item) => compareKeys(keyOf(item), place) > 0);
  if (limit === undefined || rest.length <= limit) return { data: rest };
  const data = rest.slice(0, limit);
  return { data, nextCursor: cursorAfter(keyOf(data.at(-1)!)) };
}

/** Keys that the collator takes for the same ("01", "1") are not. */
function compareKeys(left: string, right: string): number {
  return collator.compare(left, right) || (left === right ? 0 : left < right ? -1 : 1);
}
