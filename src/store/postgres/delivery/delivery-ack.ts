// Acknowledges deliveries: many in one statement, then a second statement for those that waited for them.

import type { AckItem, AckResult, DeliveryStage } from '../../delivery-port.ts';
import { bool, type Column, encodeColumns, int2, int4, json, text, timestamp, uuid } from '../array-parameter.ts';
import { readable } from '../column-list.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';
import { ackedStage, stageName } from './delivery-stage.ts';

const ACK = statement('delivery_ack');
const RENEW = statement('delivery_renew');
const PROMOTE = statement('delivery_promote');
const STAGES = statement('delivery_stages');

const KEY_COLUMNS: readonly Column<AckItem>[] = [
  text((item) => item.tenantId),
  uuid((item) => item.ackGuid),
  int4((item) => Number(item.consumerId)),
];

const ACK_COLUMNS: readonly Column<AckItem>[] = [
  ...KEY_COLUMNS,
  int2(ackedStage),
  text((item) => (item.message === null ? null : readable(item.message))),
  timestamp((item) => item.retryAt),
];

const RESULT: Column<AckItem> = json((item) => item.result);

const BEFORE_COLUMNS: readonly Column<Passed>[] = [
  int4((row) => row.consumerId),
  uuid((row) => row.subjectId),
  int4((row) => row.seq),
  bool((row) => row.hasEnded),
];

/** A place in a subject's order that something may have waited for. */
export interface Passed {
  consumerId: number;
  subjectId: string;
  seq: number;
  hasEnded: boolean;
}

export async function acknowledge(database: Database, acks: readonly AckItem[], remindMs: readonly number[]) {
  const results: AckResult[] = Array.from(acks, () => ({
    known: false,
    changed: false,
    stage: 'Pending',
    reacted: false,
  }));
  for (const round of roundsOf(acks)) {
    const rows = await database.run<MovedRow>(ACK, [
      ...encodeColumns(
        ACK_COLUMNS,
        round.map(({ item }) => item),
      ),
      remindMs[0] ?? null,
      ...encodeColumns(
        [RESULT],
        round.map(({ item }) => item),
      ),
    ]);
    const moved = new Map(rows.map((row) => [row.ackGuid, row]));
    for (const { item, place } of round) {
      const row = moved.get(item.ackGuid);
      if (row === undefined) continue;
      results[place] = { known: true, changed: true, stage: stageName(row.stage), reacted: row.reacted };
    }
    await promote(
      database,
      rows.map((row) => ({ ...row, hasEnded: row.stage === 2 || row.stage === 4 })),
    );
    const unmoved = round.filter(({ item }) => !moved.has(item.ackGuid));
    const stages = await stagesOf(database, unmoved);
    await renew(database, unmoved, stages, remindMs);
    for (const { item, place } of unmoved) {
      const stage = stages.get(`${item.ackGuid} ${item.consumerId}`);
      if (stage !== undefined) results[place] = { known: true, changed: false, stage, reacted: false };
    }
  }
  return results;
}

/** The stages were read with the tenant's own consumers only, so nothing of another tenant is renewed (S1). */
async function renew(
  database: Database,
  unmoved: readonly Placed[],
  stages: ReadonlyMap<string, DeliveryStage>,
  remindMs: readonly number[],
): Promise<void> {
  const again = unmoved.filter(
    ({ item }) => item.stage === 'Delivered' && stages.get(`${item.ackGuid} ${item.consumerId}`) === 'Delivered',
  );
  if (again.length === 0 || remindMs[0] === undefined) return;
  const keys = encodeColumns(
    KEY_COLUMNS.slice(1),
    again.map(({ item }) => item),
  );
  await database.run(RENEW, [...keys, remindMs[0]]);
}

/** Deliveries that waited for these are due. */
export async function promote(database: Database, passed: readonly Passed[]): Promise<void> {
  if (passed.length > 0) await database.run(PROMOTE, encodeColumns(BEFORE_COLUMNS, passed));
}

interface Placed {
  item: AckItem;
  place: number;
}

/**
 * A message once per round: its counters stay right, and the later of two acknowledgements of one delivery comes later.
 * Sorted, so that two processes lock in the same order.
 */
function roundsOf(acks: readonly AckItem[]): Placed[][] {
  const rounds: Placed[][] = [];
  const counts = new Map<string, number>();
  for (const [place, item] of acks.entries()) {
    const round = counts.get(item.ackGuid) ?? 0;
    counts.set(item.ackGuid, round + 1);
    rounds[round] ??= [];
    rounds[round].push({ item, place });
  }
  return rounds.map((round) => round.sort((a, b) => (a.item.ackGuid < b.item.ackGuid ? -1 : 1)));
}

/** In a new statement, which sees the changes of others that this one waited for. */
async function stagesOf(database: Database, items: readonly Placed[]): Promise<Map<string, DeliveryStage>> {
  if (items.length === 0) return new Map();
  const keys = encodeColumns(
    KEY_COLUMNS,
    items.map(({ item }) => item),
  );
  const rows = await database.run<{ ackGuid: string; consumerId: number; stage: number }>(STAGES, keys);
  return new Map(rows.map((row) => [`${row.ackGuid} ${row.consumerId}`, stageName(row.stage)]));
}

interface MovedRow {
  ackGuid: string;
  consumerId: number;
  subjectId: string;
  seq: number;
  stage: number;
  reacted: boolean;
}
