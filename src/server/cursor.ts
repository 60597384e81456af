// Pages of lists and their cursors. The cursor of a list ordered by a key is a position in that order, not an item: a client that
// deletes a whole page can still ask for the next one. Cursors are opaque; `pageQuery.cursor` (protocol/page.ts) gives their
// form, and every text of that form is a valid position.

import type { Answer } from './route.ts';

/**
 * One page of a list. `read` is asked for one row more than the limit, which shows whether there is a next page. `cursorOf`
 * makes the cursor from the page's last row; `present` gets only the rows of the page.
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
