// One hop of a redirect, by the rules of the fetch standard: when the method becomes GET and the body is dropped, and which
// headers are dropped on the way to another origin. Whether the new address may be reached is decided where the socket opens
// (guard.ts).

import { type Target, targetOf } from './url.ts';

export interface Hop {
  readonly target: Target;
  readonly method: string;
  /** Names in lower case and values, alternating. */
  readonly headers: readonly string[];
  readonly body: string | Uint8Array | null;
  /** Headers for this origin only. */
  readonly secretHeaders?: readonly string[] | undefined;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** null: not a redirect that can be followed. */
export function nextHop(hop: Hop, status: number, location: string | undefined): Hop | null {
  if (!REDIRECTS.has(status) || location === undefined) return null;
  const url = URL.parse(location, hop.target.href);
  if (url === null) return null;
  const becomesGet = (status === 303 && hop.method !== 'HEAD') || (status < 303 && hop.method === 'POST');
  const isSameOrigin = url.origin === hop.target.origin;
  const follows = (name: string) =>
    !(becomesGet && BODY_HEADER.test(name)) &&
    (isSameOrigin || !(SECRET_HEADER.test(name) || hop.secretHeaders?.includes(name) === true));
  return {
    target: targetOf(url),
    method: becomesGet ? 'GET' : hop.method,
    headers: hop.headers.filter((_text, index) => follows(hop.headers[index & ~1]!)),
    body: becomesGet ? null : hop.body,
    secretHeaders: hop.secretHeaders,
  };
}

const BODY_HEADER = /^content-/i;
/** Headers that are dropped across origins: the standard ones, common custom ones, and the acting principal. */
const SECRET_HEADER = /^x-acting-user-|auth|cookie|token|secret|password|credential|session|api-?key|signature/i;
