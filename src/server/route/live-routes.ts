// The live overview of the dashboard: one answer, or a stream of changes.

import type { LiveSample } from '../../execution/live-board.ts';
import { WHY } from '../../protocol/execution.ts';
import { type LiveEvent, type LiveNowJson, liveNowSchema, liveQuery } from '../../protocol/live.ts';
import { EVENT_STREAM, EVENT_STREAM_HEADERS, serverSent, wantsEventStream } from '../event-stream.ts';
import type { RouteParts } from '../parts.ts';
import { presentRow } from '../present/execution.ts';
import { isoTime, present } from '../present/field.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

export function liveRoutes({ board }: Pick<RouteParts, 'board'>): RouteSpec[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/live',
      tag: 'Live',
      access: 'workflows:read',
      summary:
        'What is live now, health and dead letters; with `Accept: text/event-stream`, every change of it and of what is watched',
      query: liveQuery,
      unlimited: 'streams',
      responses: { 200: liveNowSchema },
      sends: EVENT_STREAM,
      async handle({ query: { watch = [] }, caller: { tenantId }, headers, ...request }) {
        if (wantsEventStream(headers)) {
          const { signal } = request;
          const events = changes(board.follow(tenantId, watch, signal), new Set(watch));
          return { status: 200, headers: EVENT_STREAM_HEADERS, stream: serverSent(events, messageOf, signal) };
        }
        return { status: 200, body: presentNow(await board.look(tenantId)) };
      },
    }),
  ];
}

const messageOf = ({ event, data }: LiveEvent): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** Only changes; everything the first time. */
async function* changes(
  samples: AsyncIterable<LiveSample>,
  watched: ReadonlySet<string>,
): AsyncGenerator<readonly LiveEvent[]> {
  const told = new Map<string, string>();
  const isNews = (name: string, value: unknown): boolean => {
    const text = JSON.stringify(value);
    if (told.get(name) === text) return false;
    told.set(name, text);
    return true;
  };
  for await (const sample of samples) {
    const { health, newest, ...now } = presentNow(sample);
    const { at: _at, ...counts } = now;
    const events: LiveEvent[] = [];
    if (isNews('now', counts)) events.push({ event: 'now', data: now });
    if (isNews('health', health)) events.push({ event: 'health', data: health });
    if (newest !== undefined && isNews('newest', newest)) {
      events.push({ event: 'newest', data: { executionId: newest } });
    }
    const rows = [...sample.rows.values()].filter(({ executionId }) => watched.has(executionId)).map(presentRow);
    const changed = rows.filter((row) => isNews(row.executionId, row));
    if (changed.length > 0) events.push({ event: 'rows', data: changed });
    yield events;
  }
}

function presentNow({ at, now, health }: LiveSample): LiveNowJson {
  return present<LiveNowJson>({
    at: isoTime(at)!,
    live: Object.fromEntries(WHY.map((why) => [why, now[why]])) as LiveNowJson['live'],
    oldestQueuedAt: isoTime(now.oldestReadyAt),
    deadLetters: now.deadLetters,
    newest: now.newest ?? undefined,
    health: { status: health.status, reasons: [...health.reasons] },
  });
}
