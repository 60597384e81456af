// Pages of lists, and their cursors. The cursor of a list that is ordered by a key is a place in that order, not an item: a client that
// deletes everything a page shows can still ask for the next page. Cursors are opaque to clients; `pageQuery.cursor` (protocol/page.ts)
// gives their form, and every text of that form is a valid place.

import type { Answer } from './route.ts';

/**
 * One page of a list. `read` is asked for one row more than the limit, and that row says whether there is a next page. `cursorOf` makes
 * the cursor from the last row of the page; `present` gets the rows of the page alone.
 */
export async function page<Row>(
  limit: number,
  read: (limit: number) => Promise<readonly Row[]>,
  cursorOf: (last: Row) => string,
  present: (rows: readonly Row[]) => readonly unknown[] | Promise<readonly unknown[]>,
): Promise<Answer> {
  const found = await read(limit + 1);
  const rows = found.slice(0, limit);
  const data = await present(rows);
  return { status: 200, body: { data, ...(found.length > limit ? { nextCursor: cursorOf(rows.at(-1)!) } : {}) } };
}

const PLACE = 'after.';

export const cursorAfter = (key: string): string => PLACE + Buffer.from(key).toString('hex');

/** The key that ended the previous page; '' for the first page. No key contains U+0000, because PostgreSQL does not store it. */
export function placeOf(cursor: string | undefined): string {
  if (cursor === undefined) return '';
  return Buffer.from(cursor.slice(PLACE.length), 'hex').toString().replaceAll('\0', '');
}
