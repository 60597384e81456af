// What must be true after the storm: every consumer was told of every transition and processed it, in order, and was sent no
// message again after its acknowledgement was answered; timelines are complete, and no timeout was early (I1, I8, I19).

import pg from 'pg';
import type { Violation } from '../violation.ts';
import { type LedgerLine, readLedger } from './consumer-ledger.ts';
import { TIMEOUT_MS } from './instance-load.ts';

export interface CheckedConsumer {
  readonly code: string;
  readonly ledger: string;
}

/** A send that was claimed before the acknowledgement may arrive after it, if the claim was answered late. */
const ON_ITS_WAY_MS = 3_000;

interface DeliveryRow {
  readonly guid: string;
  readonly consumer: string;
  readonly subject: string;
  readonly seq: number;
  readonly stage: string;
  readonly body: string;
}

interface MoveRow {
  readonly ref: string;
  readonly event: string;
  readonly at: Date;
  readonly told: number;
}

export async function checkMessaging(
  connectionString: string,
  consumers: readonly CheckedConsumer[],
  submitted: ReadonlySet<string>,
): Promise<Violation[]> {
  const found: Violation[] = [];
  const violate = (invariant: string, what: string) => found.push({ invariant, executionId: null, what });
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const deliveries = await client.query<DeliveryRow>(
      `select ack_guid as guid, consumer, subject_id as subject, seq, stage, (select body::text from messages m where m.ack_guid = v.ack_guid) as body
       from deliveries_view v`,
    );
    for (const { code, ledger } of consumers) {
      const mine = deliveries.rows.filter(({ consumer }) => consumer === code);
      checkConsumer(code, mine, readLedger(ledger), violate);
    }
    const moves = await client.query<MoveRow>(
      `select t.external_ref as ref, t.event, t.at, (
         select count(*)::int from messages m join deliveries d on d.ack_guid = m.ack_guid
         where m.subject_id = t.instance_id and m.kind = 'transition' and m.seq / 256 = t.revision
       ) as told
       from lifecycle_timeline_view t order by t.instance_id, t.id`,
    );
    checkTimelines(moves.rows, submitted, consumers.length, violate);
    const reactions = await client.query('select ack_guid from lifecycle_reactions');
    if (reactions.rowCount! > 0) violate('I1', `${reactions.rowCount} outcomes of hooks never triggered their event`);
  } finally {
    await client.end();
  }
  return found;
}

type Violate = (invariant: string, what: string) => void;

function checkConsumer(
  code: string,
  deliveries: readonly DeliveryRow[],
  ledger: readonly LedgerLine[],
  violate: Violate,
): void {
  const rows = new Map(deliveries.map((row) => [row.guid, row]));
  const processed = new Set(ledger.filter(({ type }) => type === 'processed').map(({ guid }) => guid));
  for (const { guid, stage } of deliveries) {
    if (stage !== 'Processed') violate('I19', `${guid} to ${code} is ${stage}`);
    if (!processed.has(guid)) violate('I19', `${guid} counts as processed, and ${code} never did`);
  }
  const acked = new Map<string, number>();
  const newest = new Map<string, number>();
  const seen = new Set<string>();
  for (const { type, guid, at, body } of ledger) {
    if (type === 'acked') acked.set(guid, Math.min(at, acked.get(guid) ?? at));
    if (type !== 'received') continue;
    const row = rows.get(guid);
    if (row === undefined) return violate('I19', `${code} got ${guid}, which is no delivery to it`);
    if (row.body !== body) violate('I19', `${guid} came to ${code} with other bytes`);
    if (at > (acked.get(guid) ?? Number.POSITIVE_INFINITY) + ON_ITS_WAY_MS) {
      violate('I19', `${guid} came to ${code} ${at - acked.get(guid)!} ms after its acknowledgement`);
    }
    if (!seen.has(guid) && row.seq < (newest.get(row.subject) ?? 0))
      violate('order', `${guid} came to ${code} after one that follows it`);
    if (!seen.has(guid)) newest.set(row.subject, row.seq);
    seen.add(guid);
  }
}

function checkTimelines(
  moves: readonly MoveRow[],
  submitted: ReadonlySet<string>,
  consumers: number,
  violate: Violate,
): void {
  const byRef = Map.groupBy(moves, ({ ref }) => ref);
  for (const ref of submitted) if (!byRef.has(ref)) violate('I1', `${ref} was acknowledged, and is not there`);
  for (const [ref, timeline] of byRef) {
    const events = timeline.map(({ event }) => event).join(' ');
    if (!/^submit pass( remind){0,2} close$/.test(events)) violate('I1', `the timeline of ${ref} is: ${events}`);
    for (const [index, { event, at, told }] of timeline.entries()) {
      if (told !== consumers) violate('I1', `${event} of ${ref} was told to ${told} of ${consumers}`);
      const before = timeline[index - 1];
      if (event === 'remind' && at.getTime() < before!.at.getTime() + TIMEOUT_MS)
        violate('I8', `a timeout of ${ref} was early`);
    }
  }
}
