// Headers of an outbound request as a caller gave them: checked, so that a bad one is a clear answer and not an error of
// the transport, and without those that belong to the connection and could be used to smuggle a request or to reach
// another virtual host than the one whose address was checked.

import { TerminalError } from '../../core/error/error.ts';
import { ACCEPTED_ENCODINGS } from './response-stream.ts';

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
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

/** Names in lower case. */
export function requestHeaders(given: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  headers['accept-encoding'] = ACCEPTED_ENCODINGS;
  for (const name of Object.keys(given)) {
    const value = given[name]!;
    const problem = headerProblem(name, value);
    if (problem !== null) {
      throw new TerminalError('PARAMETERS_INVALID', `The header ${JSON.stringify(name.slice(0, 100))} ${problem}`);
    }
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

function headerProblem(name: string, value: string): string | null {
  if (!NAME.test(name)) return 'has a name that HTTP does not allow';
  if (OF_THE_CONNECTION.has(name.toLowerCase())) return 'is set by the client and cannot be given';
  return VALUE.test(value) ? null : 'has a value that HTTP does not allow (line breaks, or characters beyond Latin-1)';
}
