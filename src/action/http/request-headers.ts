// Headers of an outbound request as a caller gave them: checked, so that a bad one is a clear answer and not an error of
// the transport, and without those that belong to the connection and could be used to smuggle a request or to reach
// another virtual host than the one whose address was checked.

import { TerminalError } from '../../core/error/error.ts';
import { ACCEPTED_ENCODINGS } from './response-stream.ts';

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

const OF_THE_CONNECTION = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Names, in lower case, and values by turns, as the transport takes them. */
export function requestHeaders(given: Readonly<Record<string, string>>): string[] {
  const headers: string[] = [];
  let acceptsEncodings = false;
  for (const written of Object.keys(given)) {
    const name = written.toLowerCase();
    const value = given[written]!;
    const problem = headerProblem(name, value);
    if (problem !== null) {
      throw new TerminalError('PARAMETERS_INVALID', `The header ${JSON.stringify(written.slice(0, 100))} ${problem}`);
    }
    acceptsEncodings ||= name === 'accept-encoding';
    headers.push(name, value);
  }
  if (!acceptsEncodings) headers.push('accept-encoding', ACCEPTED_ENCODINGS);
  return headers;
}

function headerProblem(name: string, value: string): string | null {
  if (!NAME.test(name)) return 'has a name that HTTP does not allow';
  if (OF_THE_CONNECTION.has(name)) return 'is set by the client and cannot be given';
  return VALUE.test(value) ? null : 'has a value that HTTP does not allow (line breaks, or characters beyond Latin-1)';
}
