// Mailbox: the door for everything that comes from outside, and the poll of resident executions (I10, I11, S1).

import type { InboxStore } from '../../port.ts';
import { uuidArray } from '../array-parameter.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const SEND = statement('inbox_send');
const READ = statement('inbox_read');
const SIGNAL_KNOWN = statement('signal_known');

export function inboxStore(engine: Database): InboxStore {
  return {
    async inboxSend({ message, tenantId }) {
      const { id, executionId, kind, key, body } = message;
      const values = [id, executionId, tenantId, kind, key, body];
      const [target] = await engine.run<SentRow>(SEND, values);
      if (target === undefined) return { live: false, fresh: false, owner: null, isExternal: false };
      return { live: true, fresh: target.fresh, owner: target.runnerId, isExternal: target.isExternal };
    },
    inboxRead: ({ executionIds }) => engine.run(READ, [uuidArray(executionIds)]),
    async signalKnown({ tenantId, executionId, key }) {
      const [row] = await engine.run<{ known: boolean }>(SIGNAL_KNOWN, [executionId, key, tenantId]);
      return row!.known;
    },
  };
}

interface SentRow {
  runnerId: string | null;
  fresh: boolean;
  isExternal: boolean;
}
