// The header Idempotency-Key, for requests without an id in the body. It becomes a request id, or part of one, with the same
// maximum length. A bad key is refused by its own name, not by that of a field that nobody sent.

import type { IncomingHttpHeaders } from 'node:http';
import { PawlError } from '../core/error/pawl-error.ts';

const MAX_LENGTH = 200;

/** undefined: no key, so the request repeats no other. */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key']?.toString();
  if (key === undefined || (key.length > 0 && key.length <= MAX_LENGTH)) return key;
  throw new PawlError('REQUEST_INVALID', `the header Idempotency-Key must have 1 to ${MAX_LENGTH} characters`);
}
