// Messages and deliveries as arrays of the statements that write them: lifecycle_apply and outbox_publish.

import type { NewDelivery, NewMessageRow } from '../../delivery-port.ts';
import { bool, type Column, encodeColumns, int4, json, text, uuid } from '../array-parameter.ts';

const MESSAGE_COLUMNS: readonly Column<NewMessageRow>[] = [
  uuid((row) => row.ackGuid),
  text((row) => row.tenantId),
  text((row) => row.kind),
  uuid((row) => row.subjectId),
  int4((row) => row.seq),
  text((row) => row.env),
  text((row) => row.source),
  text((row) => row.event),
  json((row) => row.body),
  text((row) => row.onSucceeded),
  text((row) => row.onFailed),
  int4((row) => row.consumers),
];

const DELIVERY_COLUMNS: readonly Column<NewDelivery & { isHeld: boolean }>[] = [
  uuid((row) => row.ackGuid),
  int4((row) => Number(row.consumerId)),
  uuid((row) => row.subjectId),
  int4((row) => row.seq),
  bool((row) => row.isHeld),
];

export const encodeMessages = (messages: readonly NewMessageRow[]): Buffer[] =>
  encodeColumns(MESSAGE_COLUMNS, messages);

/** What follows another one to the same consumer about the same subject waits for it, and need not be claimed to learn that. */
export function encodeDeliveries(deliveries: readonly NewDelivery[]): Buffer[] {
  const first = new Map<string, number>();
  for (const { consumerId, subjectId, seq } of deliveries) {
    const lane = `${consumerId} ${subjectId}`;
    first.set(lane, Math.min(seq, first.get(lane) ?? seq));
  }
  const rows = deliveries.map((row) => ({
    ...row,
    isHeld: row.seq > first.get(`${row.consumerId} ${row.subjectId}`)!,
  }));
  return encodeColumns(DELIVERY_COLUMNS, rows);
}
