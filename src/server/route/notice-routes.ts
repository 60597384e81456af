// Notices: information for operators that needs no answer, as a list and as a live stream.

import type { NoticeView } from '../../delivery/notices.ts';
import { noticeQuery, noticeSchema } from '../../protocol/delivery.ts';
import { pageOf } from '../../protocol/page.ts';
import { EVENT_STREAM, EVENT_STREAM_HEADERS, serverSent, wantsEventStream } from '../event-stream.ts';
import type { RouteParts } from '../parts.ts';
import { presentNotice } from '../present/delivery.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

export function noticeRoutes({ notices }: Pick<RouteParts, 'notices'>): RouteSpec[] {
  return [
    defineRoute({
      tag: 'Notices',
      access: 'workflows:read',
      method: 'GET',
      path: '/api/v1/notices',
      summary: 'The last notices, newest last; with `Accept: text/event-stream`, a live stream',
      query: noticeQuery,
      unlimited: 'streams',
      responses: { 200: pageOf(noticeSchema) },
      sends: EVENT_STREAM,
      async handle({ query: { after, cursor, limit }, caller: { tenantId }, headers, ...request }) {
        const from = cursor ?? after ?? null;
        if (wantsEventStream(headers)) {
          const pages = notices.follow(tenantId, lastSeen(headers['last-event-id']) ?? from, request.signal);
          return { status: 200, headers: EVENT_STREAM_HEADERS, stream: serverSent(pages, messageOf, request.signal) };
        }
        const found = await notices.list(tenantId, { afterId: from, limit });
        const next = from !== null && found.length === limit ? { nextCursor: found.at(-1)!.id } : {};
        return { status: 200, body: { data: found.map(presentNotice), ...next } };
      },
    }),
  ];
}

const lastSeen = (id: string | string[] | undefined): string | null =>
  typeof id === 'string' && /^\d{1,18}$/.test(id) ? id : null;

const messageOf = (notice: NoticeView): string =>
  `id: ${notice.id}\nevent: ${notice.kind}\ndata: ${JSON.stringify(presentNotice(notice))}\n\n`;
