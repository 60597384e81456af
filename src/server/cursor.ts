// Cursors of lists that are in the order of a key: a place in that order, not an item, so whoever deletes what each page shows goes on
// from where it was. Opaque to clients; their form is `pageQuery.cursor` (protocol/page.ts), and whatever has it is a place.

const PLACE = 'after.';

export const cursorAfter = (key: string): string => PLACE + Buffer.from(key).toString('hex');

/** The key that the page before ended with; '' before all of them. No key has U+0000, which the database does not take. */
export function placeOf(cursor: string | undefined): string {
  if (cursor === undefined) return '';
  return Buffer.from(cursor.slice(PLACE.length), 'hex').toString().replaceAll('\0', '');
}
