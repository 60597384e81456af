// Which URLs may be called. Which addresses may be reached is decided where the socket opens (guard.ts).

import { TerminalError } from '../../core/error/error.ts';

/** A parsed URL that may be called. */
export interface Target {
  readonly url: URL;
  readonly href: string;
  readonly origin: string;
  /** With the query. */
  readonly path: string;
}

/** Steps call the same few URLs again and again, so parsed ones are cached. */
const REMEMBERED = 256;

export class Targets {
  private readonly known = new Map<string, Target>();

  /** Throws when the URL must not be called. */
  get(input: string | URL): Target {
    const text = String(input);
    const known = this.known.get(text);
    if (known !== undefined) return known;
    const target = targetOf(checkUrl(text));
    if (this.known.size >= REMEMBERED) this.known.clear();
    this.known.set(text, target);
    return target;
  }
}

export function targetOf(url: URL): Target {
  return { url, href: url.href, origin: url.origin, path: `${url.pathname}${url.search}` };
}

function checkUrl(text: string): URL {
  const url = URL.parse(text);
  const problem = url === null ? 'is not an absolute URL' : urlProblem(url);
  if (url === null || problem !== null) {
    const shown = url === null ? JSON.stringify(text.slice(0, 200)) : `${url.protocol}//${url.host}`;
    throw new TerminalError('PARAMETERS_INVALID', `The URL ${shown} ${problem}`);
  }
  return url;
}

/** null: none. */
export function urlProblem(url: URL): string | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'is not http or https';
  if (url.username !== '' || url.password !== '') return 'contains credentials; send them in a header instead';
  return HOST.test(url.hostname) ? null : 'has a host name that cannot exist';
}

/** URLs allow host names that DNS does not, e.g. an expression that was not rendered. IPv6 is in brackets. */
const HOST = /^(\[.+\]|[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?)$/;
