// Answers on the bare socket: requests that Node's parser refuses. Unknown methods are told apart from other noise, because the
// address exists and takes others (405).

import type { Socket } from 'node:net';
import { PawlError } from '../core/error/pawl-error.ts';
import { correlationOf } from './correlation.ts';
import { methodNotAllowed, notFound, refusalOf } from './error-envelope.ts';

/** As Node gives it; fastify's type is wrong about the packet. */
type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: unknown };

const MALFORMED = ['400 Bad Request', 'this is not an HTTP request that can be understood'] as const;
const MALFORMED_BY: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the headers of the request are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request did not come to its end in time'],
};

export function malformedRefuser(methodsAt: (url: string) => readonly string[], bodyLimitBytes: number) {
  return (error: ParserError, socket: Socket): void => {
    if (!socket.writable) return;
    const { status, problem } = unknownMethod(error, methodsAt) ?? malformed(error);
    const context = { correlationId: correlationOf({}).id, at: new Date(), bodyLimitBytes };
    const { body, headers } = refusalOf(problem, context);
    const text = JSON.stringify(body);
    const head = [
      `HTTP/1.1 ${status}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(text)}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      'connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
  };
}

const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}) (\/[\x21-\x7e]{0,2000}) HTTP\/1\.[01]\r\n/;

function unknownMethod({ code, rawPacket }: ParserError, methodsAt: (url: string) => readonly string[]) {
  if (code !== 'HPE_INVALID_METHOD' || !Buffer.isBuffer(rawPacket)) return null;
  const [, method, url] = REQUEST_LINE.exec(rawPacket.toString('latin1', 0, 2_100)) ?? [];
  if (method === undefined || url === undefined) return null;
  const methods = methodsAt(url);
  if (methods.length === 0) return { status: '404 Not Found', problem: notFound(method, url) };
  return { status: '405 Method Not Allowed', problem: methodNotAllowed(method, methods) };
}

function malformed({ code = '' }: ParserError) {
  const [status, message] = MALFORMED_BY[code] ?? MALFORMED;
  return { status, problem: new PawlError('REQUEST_INVALID', message) };
}
