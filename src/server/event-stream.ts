// Server-sent events: pages of events as text, a comment now and then so that proxies keep the connection, and an end that
// clients can tell from a broken connection. An event's id is its seq, so a browser resumes by itself (Last-Event-ID).

import type { IncomingHttpHeaders } from 'node:http';
import type { Transition } from '../core/decider/fact.ts';
import type { ExecutionEvent } from '../execution/execution-event.ts';
import { presentEvent } from './present/execution.ts';

const HEARTBEAT_MS = 15_000;

export const EVENT_STREAM = 'text/event-stream';
export const EVENT_STREAM_HEADERS = {
  'content-type': `${EVENT_STREAM}; charset=utf-8`,
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
} as const;

export const wantsEventStream = (headers: IncomingHttpHeaders): boolean =>
  headers.accept?.includes(EVENT_STREAM) === true;

/** Resumes after the last event that the client has seen. */
export function resumeAfter(headers: IncomingHttpHeaders, otherwise: number): number {
  const last = headers['last-event-id'];
  return typeof last === 'string' && /^\d{1,9}$/.test(last) ? Number(last) : otherwise;
}

export const eventStream = (pages: AsyncIterable<ExecutionEvent[]>, signal: AbortSignal): AsyncGenerator<string> =>
  serverSent(pages, message, signal);

/** Without an end marker when the server stops: the client then knows that there is more, and reconnects. */
export async function* serverSent<Item>(
  pages: AsyncIterable<readonly Item[]>,
  messageOf: (item: Item) => string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  yield ': following\n\n';
  let saidAt = performance.now();
  for await (const items of pages) {
    if (items.length > 0) {
      yield items.map(messageOf).join('');
      saidAt = performance.now();
    } else if (performance.now() - saidAt > HEARTBEAT_MS) {
      yield ': still here\n\n';
      saidAt = performance.now();
    }
  }
  if (!signal.aborted) yield 'event: end\ndata: {}\n\n';
}

/** Each transition under its seq, from which a client resumes. */
export const transitionMessage = (transition: Transition): string =>
  `id: ${transition.seq}\nevent: transition\ndata: ${JSON.stringify(transition)}\n\n`;

/** A log line shares the seq of the fact after it, so only that fact carries the id: nothing is lost in between. */
function message(event: ExecutionEvent): string {
  const id = event.isLine === true ? '' : `id: ${event.seq}\n`;
  return `${id}event: ${event.type}\ndata: ${JSON.stringify(presentEvent(event))}\n\n`;
}
