// Sends a handler's answer: as JSON, as text, compressed if the client accepts that, or as a stream.

import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import type { Answer, RouteSpec } from './route.ts';

export function send(
  reply: FastifyReply,
  { status, body, headers, stream }: Answer,
  isHead: boolean,
): FastifyReply | Promise<FastifyReply> {
  reply.code(status).headers(headers ?? {});
  // A HEAD request needs no stream, and a stream has no known length.
  if (isHead && stream !== undefined) return reply.send();
  if (stream !== undefined) return reply.send(Readable.from(stream, { objectMode: false }));
  const isPackable = !isHead && headers?.['content-encoding'] === undefined;
  const text = isPackable && takesGzip(reply.request.headers['accept-encoding']) ? textOf(body) : null;
  if (text === null) return reply.send(body);
  if (typeof body !== 'string') reply.type('application/json; charset=utf-8');
  const packing = packedText(text);
  if (packing === null) return reply.send(text);
  reply.header('content-encoding', 'gzip').header('vary', 'accept-encoding');
  return packing.then((packed) => reply.send(packed));
}

/** null: none, or not text. */
function textOf(body: unknown): string | null {
  if (typeof body === 'string') return body;
  return typeof body === 'object' && body !== null && !(body instanceof Uint8Array) ? JSON.stringify(body) : null;
}

/** For tests: checks an answer against its route's declaration. */
export function checkAnswer(route: RouteSpec, { status, body, stream, headers }: Answer): void {
  const schema = route.responses[status];
  const isText = stream !== undefined || typeof body === 'string';
  if (isText && route.sends !== '*/*' && headers?.['content-type']?.split(';')[0] !== route.sends) {
    throw new Error(`${route.method} ${route.path} does not declare that it sends ${headers?.['content-type']}`);
  }
  if (schema === undefined) throw new Error(`${route.method} ${route.path} does not declare the status ${status}`);
  if (schema !== null && stream === undefined) schema.parse(JSON.parse(JSON.stringify(body)));
}

/**
 * Answers over 8 KB are sent as gzip to clients that accept it. In the background, because compressing a megabyte would stall
 * the event loop (S4).
 */
const PACKED_FROM_LENGTH = 8 * 1024;
const FASTEST = { level: 1 };
const pack = promisify(gzip);

const takesGzip = (accepted: string | string[] | undefined): boolean => /\bgzip\b/.test(String(accepted ?? ''));

/** null: too short to be worth it. */
const packedText = (text: string): Promise<Buffer> | null =>
  text.length < PACKED_FROM_LENGTH ? null : pack(text, FASTEST);
