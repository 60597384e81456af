// Notices of all processes on PostgreSQL.

import type { DeliveryStore, NewNotice, NoticeRow } from '../../delivery-port.ts';
import { type Column, encodeColumns, json, text, timestamp } from '../array-parameter.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const ADD = statement('notice_add');
const LIST = statement('notice_list');
const GET = statement('notice_get');
const NEWEST = statement('notice_newest');

const COLUMNS: readonly Column<NewNotice>[] = [
  text((row) => row.tenantId),
  text((row) => row.kind),
  json((row) => row.body),
  timestamp((row) => row.at),
];

export function noticeStore(
  engine: Database,
  reader: Database,
): Pick<DeliveryStore, 'noticeAdd' | 'noticeGet' | 'noticeList'> {
  return {
    async noticeAdd({ notices }) {
      const rows = await engine.run<{ id: string }>(ADD, encodeColumns(COLUMNS, notices));
      return rows.map(({ id }) => id);
    },
    noticeGet: ({ noticeIds }) => reader.run<NoticeRow>(GET, [noticeIds]),
    noticeList: ({ tenantId, afterId, limit }) =>
      afterId === null
        ? reader.run<NoticeRow>(NEWEST, [tenantId, limit])
        : reader.run<NoticeRow>(LIST, [tenantId, afterId, limit]),
  };
}
