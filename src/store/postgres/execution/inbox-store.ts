// The mailbox: for everything from outside, and the poll of resident executions (I10, I11, S1).

import { GroupWrite, type Waiting } from '../../group-write.ts';
import type { InboxStore } from '../../port.ts';
import { StoreError } from '../../store-error.ts';
import { encodeColumns, uuidArray } from '../array-parameter.ts';
import { MESSAGE } from '../column-list.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const SEND = statement('inbox_send');
const SEND_MANY = statement('inbox_send_many');
const READ = statement('inbox_read');
const SIGNAL_KNOWN = statement('signal_known');

export function inboxStore(engine: Database): InboxStore {
  // Callbacks come in bursts, and one event may have thousands of waits, so concurrent messages share a statement.
  const callbacks = new GroupWrite<Sending, Sent>({
    timers: { soon: (callback) => void setImmediate(callback) },
    maxInFlight: MAX_IN_FLIGHT,
    split: nextOfOneTenant,
    write: (batch) => sendMany(engine, batch),
  });
  return {
    async inboxSend({ message, tenantId }) {
      const { id, executionId, kind, key, body } = message;
      if (kind === 'webhook' || kind === 'event') return callbacks.submit({ message, tenantId });
      const values = [id, executionId, tenantId, kind, key, body];
      const [target] = await engine.run<SentRow>(SEND, values);
      if (target === undefined) return NOT_LIVE;
      return { live: true, fresh: target.fresh, owner: target.runnerId, isExternal: target.isExternal };
    },
    inboxRead: ({ executionIds }) => engine.run(READ, [uuidArray(executionIds)]),
    async signalKnown({ tenantId, executionId, key }) {
      const [row] = await engine.run<{ known: boolean }>(SIGNAL_KNOWN, [executionId, key, tenantId]);
      return row!.known;
    },
  };
}

const MAX_BATCH = 256;
const MAX_BATCH_CHARS = 1024 * 1024;
const MAX_IN_FLIGHT = 2;
const MAX_TRIES = 10;
const NOT_LIVE = { live: false, fresh: false, owner: null, isExternal: false };

type Sending = Parameters<InboxStore['inboxSend']>[0];
type Sent = Awaited<ReturnType<InboxStore['inboxSend']>>;
type Callbacks = Waiting<Sending, Sent>[];

/** The messages of the tenant that has waited longest, as many as fit into one statement. */
function nextOfOneTenant(waiting: Callbacks): [next: Callbacks, left: Callbacks] {
  const { tenantId } = waiting[0]!.item;
  const next: Callbacks = [];
  const left: Callbacks = [];
  let chars = 0;
  for (const one of waiting) {
    const { message } = one.item;
    const fits =
      next.length === 0 || (next.length < MAX_BATCH && chars + (message.body?.length ?? 0) <= MAX_BATCH_CHARS);
    if (one.item.tenantId !== tenantId || !fits) left.push(one);
    else {
      next.push(one);
      chars += message.body?.length ?? 0;
    }
  }
  return [next, left];
}

async function sendMany(engine: Database, batch: readonly Waiting<Sending, Sent>[]): Promise<void> {
  const messages = batch.map(({ item }) => item.message);
  const { tenantId } = batch[0]!.item;
  const values = { messages: encodeColumns(MESSAGE, messages), tenantId };
  const rows = await unlessDeadlocked(() => engine.run<ManyRow>(SEND_MANY, values));
  const targets = new Map(rows.flatMap((row) => (row.isMessage ? [] : [[row.id, row]])));
  const fresh = new Set(rows.flatMap(({ id, isMessage }) => (isMessage ? [id] : [])));
  for (const { item, resolve } of batch) {
    const target = targets.get(item.message.executionId);
    if (target === undefined) resolve(NOT_LIVE);
    else {
      const { runnerId: owner, isExternal } = target;
      resolve({ live: true, fresh: fresh.has(item.message.id), owner, isExternal: isExternal! });
    }
  }
}

/** Parking locks queue rows in another order, so one of the two may lose. Nothing happened then, and the same statement may work. */
async function unlessDeadlocked<Result>(send: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof StoreError && error.failure === 'retry') || tries === MAX_TRIES) throw error;
    }
  }
}

interface ManyRow {
  /** Of a message that is new, or of an execution. */
  id: string;
  isMessage: boolean;
  runnerId: string | null;
  isExternal: boolean | null;
}

interface SentRow {
  runnerId: string | null;
  fresh: boolean;
  isExternal: boolean;
}
