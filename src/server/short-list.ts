// Lists that are short enough to come whole. Whoever pages through every list alike asks them for a `limit` too, and gets pages.

import { requestInvalid } from './request-problem.ts';

export function shortList<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  { limit, cursor }: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
): { data: readonly Item[]; nextCursor?: string } {
  const last = cursor === undefined ? -1 : items.findIndex((item) => keyOf(item) === cursor);
  if (cursor !== undefined && last === -1) {
    throw requestInvalid([{ code: 'BAD_FORMAT', path: '/query/cursor', message: 'is not a cursor of this list' }]);
  }
  const rest = items.slice(last + 1);
  if (limit === undefined || rest.length <= limit) return { data: rest };
  const data = rest.slice(0, limit);
  return { data, nextCursor: keyOf(data.at(-1)!) };
}
