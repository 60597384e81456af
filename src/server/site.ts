// Where a request comes from, and which machine it is addressed to, for servers that ask for no token: there every page that a
// browser shows could act for the person in front of it. Requests that no browser made carry none of these headers.

import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

/** Whether a page of another origin made it. A person that follows a link from elsewhere only looks, and may. */
export function fromElsewhere(method: string, headers: IncomingHttpHeaders): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin' || site === 'none') return false;
  if (site !== undefined) return !(isLooking(method) && isVisit(headers));
  return origin !== undefined && hostOf(origin) !== host?.toLowerCase();
}

const isLooking = (method: string): boolean => method === 'GET' || method === 'HEAD';

/** A page in a window of its own. */
const isVisit = (headers: IncomingHttpHeaders): boolean =>
  headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';

const hostOf = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host : null);

const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]', '::1']);
/** Names that cannot be registered, so no foreign page can be made to point here (DNS rebinding). */
const PRIVATE_NAME = /^[^.]+$|\.(?:localhost|local|internal|lan|home\.arpa)$/i;

/** Which names a server that listens on `host` answers to. */
export function ownHosts(host: string, publicUrl: string | undefined): (name: string) => boolean {
  const isLoopback = LOOPBACK_NAMES.has(host) || host.startsWith('127.');
  const published = publicUrl === undefined ? null : new URL(publicUrl).hostname;
  return (name) =>
    LOOPBACK_NAMES.has(name.toLowerCase()) ||
    name === published ||
    (!isLoopback && (isIP(name.replace(/^\[|\]$/g, '')) !== 0 || PRIVATE_NAME.test(name)));
}
