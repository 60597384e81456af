// Headers of an outbound request as a caller gave them: checked, so that a bad one is a clear answer and not an error of
// the transport.

import { headerNameProblem, headerValueProblem } from '../../core/definition/http-header.ts';
import { TerminalError } from '../../core/error/error.ts';
import { ACCEPTED_ENCODINGS } from './response-stream.ts';

/** Names, in lower case, and values by turns, as the transport takes them. */
export function requestHeaders(given: Readonly<Record<string, string>>): string[] {
  const headers: string[] = [];
  let acceptsEncodings = false;
  for (const written of Object.keys(given)) {
    const name = written.toLowerCase();
    const value = given[written]!;
    const problem = headerNameProblem(name) ?? headerValueProblem(value);
    if (problem !== null) {
      throw new TerminalError('PARAMETERS_INVALID', `The header ${JSON.stringify(written.slice(0, 100))} ${problem}`);
    }
    acceptsEncodings ||= name === 'accept-encoding';
    headers.push(name, value);
  }
  if (!acceptsEncodings) headers.push('accept-encoding', ACCEPTED_ENCODINGS);
  return headers;
}
