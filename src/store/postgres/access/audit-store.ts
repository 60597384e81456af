// The audit log on PostgreSQL: the deed runs on the same connection as its record, in one transaction.

import type { AuditRecord, AuditStore } from '../../audit-port.ts';
import type { Store } from '../../port.ts';
import { type Database, joining } from '../database.ts';
import { statement } from '../statement.ts';

const ADD = statement('audit_add');
const LIST = statement('audit_list');
const CHECK = statement('audit_check');
const TENANTS = statement('audit_tenants');

interface LinkRow {
  seq: number;
  hash: string;
  expectedSeq: number;
  whole: boolean;
}

export function auditStore(database: Database, storeOn: (database: Database) => Store): AuditStore {
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
    async auditCheck({ tenantId, from, limit }) {
      const before = [from?.seq ?? 0, Buffer.from(from?.hash ?? '', 'hex')];
      const ends = await database.run<LinkRow>(CHECK, [tenantId, ...before, limit]);
      const last = ends.find(({ whole }) => whole);
      const broken = ends.find(({ whole }) => !whole);
      const head = last === undefined ? from : { seq: last.seq, hash: last.hash };
      return {
        checked: (head?.seq ?? 0) - (from?.seq ?? 0),
        head,
        broken: broken === undefined ? null : { seq: broken.seq, expectedSeq: broken.expectedSeq },
      };
    },
    async auditTenants() {
      return (await database.run<{ tenantId: string }>(TENANTS, [])).map(({ tenantId }) => tenantId);
    },
  };
}

const timeOrNull = (time: number | undefined): Date | null => (time === undefined ? null : new Date(time));
