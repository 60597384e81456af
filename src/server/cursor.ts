// Cursors of lists that are in the order of a key: a place in that order, not an item, so whoever deletes what each page shows goes on
// from where it was. Opaque to clients, and recognisable: what no list gave out is refused, not taken for a place.

import type { PawlError } from '../core/error/pawl-error.ts';
import { requestInvalid } from '../core/error/request-invalid.ts';

const PLACE = 'after.';

export const cursorAfter = (key: string): string => PLACE + Buffer.from(key).toString('base64url');

/** The key that the page before ended with; '' before all of them. */
export function placeOf(cursor: string | undefined): string {
  if (cursor === undefined) return '';
  const key = Buffer.from(cursor.slice(PLACE.length), 'base64url').toString();
  // The database takes no NUL, so no key has one.
  if (cursor !== cursorAfter(key) || key.includes('\0')) throw badCursor();
  return key;
}

export const badCursor = (): PawlError =>
  requestInvalid([{ code: 'BAD_FORMAT', path: '/query/cursor', message: 'is not a cursor of this list' }]);
