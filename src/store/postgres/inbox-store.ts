// Mailbox: the door for everything that comes from outside, and the poll of resident executions (I10, I11, S1).

import type { InboxMessage, InboxStore, JsonText } from '../port.ts';
import { uuidArray } from './array-parameter.ts';
import type { Database } from './database.ts';
import { statement } from './statement.ts';

const SEND = statement('inbox_send');
const READ = statement('inbox_read');
const SIGNAL_KNOWN = statement('signal_known');

export function inboxStore(engine: Database): InboxStore {
  return {
    async inboxSend({ message, tenantId }) {
      const { id, executionId, kind, key, body } = message;
      const values = [id, executionId, tenantId, kind, key, body];
      const [target] = await engine.run<{ runner_id: string | null; fresh: boolean }>(SEND, values);
      if (target === undefined) return { live: false, fresh: false, owner: null };
      return { live: true, fresh: target.fresh, owner: target.runner_id };
    },
    async inboxRead({ executionIds }) {
      const rows = await engine.run<InboxRow>(READ, [uuidArray(executionIds)]);
      return rows.map(({ execution_id, ...message }) => ({ executionId: execution_id, ...message }));
    },
    async signalKnown({ tenantId, executionId, key }) {
      const [row] = await engine.run<{ known: boolean }>(SIGNAL_KNOWN, [executionId, key, tenantId]);
      return row!.known;
    },
  };
}

interface InboxRow {
  execution_id: string;
  id: string;
  kind: InboxMessage['kind'];
  key: string;
  body: JsonText;
}
