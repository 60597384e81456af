// Consumers on PostgreSQL. Every change raises the generation in its own transaction, so that no decision uses an outdated list
// for long. The rest of a removal is swept: it may be much, and a transaction should be short.

import type { ConsumerChange, ConsumerRow, DeliveryStore, SweptConsumer } from '../../delivery-port.ts';
import type { Database, Session } from '../database.ts';
import { raiseGeneration } from '../lifecycle/lifecycle-store.ts';
import { statement } from '../statement.ts';

const PUT = statement('consumer_put');
const GET = statement('consumer_get');
const LIST = statement('consumer_list');
const REMOVE = statement('consumer_remove');
const REMOVE_DELIVERIES = statement('consumer_deliveries_remove');
const ORPHANS = statement('consumer_orphans');

const REMOVED_AT_ONCE = 1000;

type ConsumerMethods = 'consumerPut' | 'consumerGet' | 'consumerList' | 'consumerRemove' | 'consumerSweep';

export function consumerStore(engine: Database, reader: Database): Pick<DeliveryStore, ConsumerMethods> {
  return {
    consumerPut: (change) => reader.transaction((session) => putConsumer(session, change)),
    async consumerGet({ tenantId, code }) {
      const [row] = await reader.run<Row>(GET, [tenantId, code]);
      return row === undefined ? null : consumerRow(row);
    },
    async consumerList({ tenantId }) {
      return (await reader.run<Row>(LIST, [tenantId])).map(consumerRow);
    },
    consumerRemove: ({ tenantId, code }) =>
      reader.transaction(async (session) => {
        const isRemoved = (await session.run(REMOVE, [tenantId, code])).length > 0;
        if (isRemoved) await raiseGeneration(session);
        return isRemoved;
      }),
    consumerSweep: () => sweepDeliveries(engine),
  };
}

/** Nobody writes new deliveries for a removed consumer. An interrupted sweep is continued by the next. */
export async function sweepDeliveries(engine: Database): Promise<SweptConsumer[]> {
  const orphans = await engine.run<{ consumerId: number }>(ORPHANS, []);
  const swept: SweptConsumer[] = [];
  for (const { consumerId: id } of orphans) {
    swept.push({ consumerId: String(id), ackGuids: await removeDeliveries(engine, id) });
  }
  return swept;
}

async function removeDeliveries(engine: Database, consumerId: number): Promise<string[]> {
  const failed: string[] = [];
  for (;;) {
    const [row] = await engine.run<RemovedRow>(REMOVE_DELIVERIES, [consumerId, REMOVED_AT_ONCE]);
    if (row!.removed === 0) return failed;
    failed.push(...row!.failed);
  }
}

async function putConsumer(session: Session, change: ConsumerChange): Promise<ConsumerRow> {
  const { tenantId, code, kind, url, newSecret, subscriptions, ordering, concurrency, options, isPaused } = change;
  const given = [newSecret, subscriptions, ordering, concurrency, options, isPaused].map((value) => value ?? null);
  const { onlyNew = false, keepPrevious = true } = change;
  const key = [tenantId, code, kind, url ?? null, url !== undefined];
  const [row] = await session.run<Row>(PUT, [...key, ...given, onlyNew, keepPrevious]);
  if (row === undefined) {
    const [existing] = await session.run<Row>(GET, [tenantId, code]);
    return consumerRow(existing!);
  }
  await raiseGeneration(session);
  return consumerRow(row);
}

const consumerRow = ({ id, ...row }: Row): ConsumerRow => ({ ...row, consumerId: String(id) });

interface RemovedRow {
  removed: number;
  failed: string[];
}

type Row = Omit<ConsumerRow, 'consumerId'> & { id: number };
