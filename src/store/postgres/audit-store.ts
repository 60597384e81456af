// The audit log on PostgreSQL: the deed runs on the same connection as its record, in one transaction.

import type { AuditRecord, AuditStore } from '../audit-port.ts';
import type { Store } from '../port.ts';
import { type Database, type EngineDatabase, joining } from './database.ts';
import { statement } from './statement.ts';

const ADD = statement('audit_add');
const LIST = statement('audit_list');

export function auditStore(database: Database, storeOn: (database: EngineDatabase) => Store): AuditStore {
  return {
    audited: ({ tenantId, by, work, deed }) =>
      database.transaction(async (session) => {
        const result = await work(storeOn(joining(session)));
        const done = deed(result);
        if (done === null) return result;
        const { action, target, details } = done;
        const text = details === undefined ? null : JSON.stringify(details);
        await session.run(ADD, [tenantId, by.name, action, target, text, by.correlationId ?? null]);
        return result;
      }),
    auditList: ({ tenantId, beforeId, limit, actor, action, target, after, before }) =>
      database.run<AuditRecord>(LIST, [
        tenantId,
        beforeId,
        limit,
        actor ?? null,
        action ?? null,
        target ?? null,
        timeOrNull(after),
        timeOrNull(before),
      ]),
  };
}

const timeOrNull = (time: number | undefined): Date | null => (time === undefined ? null : new Date(time));
