// The audit log: what was changed in this tenant, by whom. It is read here and written with each deed.

import { auditEntrySchema, auditQuery, auditVerifyAnswer, auditVerifyQuery } from '../../protocol/audit.ts';
import { pageOf } from '../../protocol/page.ts';
import { readLink, verifyChain, writeLink } from '../../store/audit-chain.ts';
import type { AuditLink, AuditRecord, AuditStore } from '../../store/audit-port.ts';
import { isoTime } from '../present/execution.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

export function auditRoutes({ audit }: { readonly audit: AuditStore }): RouteSpec[] {
  return [
    defineRoute({
      access: 'admin',
      tag: 'Admin',
      method: 'GET',
      path: '/api/v1/admin/audit',
      summary: 'Who changed what, newest first',
      query: auditQuery,
      responses: { 200: pageOf(auditEntrySchema) },
      async handle({ query: { limit, cursor, after, before, ...filter }, caller: { tenantId } }) {
        const found = await audit.auditList({
          ...filter,
          tenantId,
          beforeId: cursor ?? null,
          limit: limit + 1,
          after: timeOf(after),
          before: timeOf(before),
        });
        const data = found.slice(0, limit).map(presentEntry);
        return { status: 200, body: { data, ...(found.length > limit ? { nextCursor: data.at(-1)!.id } : {}) } };
      },
    }),
    defineRoute({
      access: 'admin',
      tag: 'Admin',
      method: 'GET',
      path: '/api/v1/admin/audit/verify',
      summary: 'Whether a record of the audit log was changed or removed; `head` is what an earlier answer named',
      query: auditVerifyQuery,
      responses: { 200: auditVerifyAnswer },
      async handle({ query: { head }, caller: { tenantId } }) {
        const { problem, ...verified } = await verifyChain(audit, tenantId, readLink(head));
        return { status: 200, body: { ok: problem === null, ...presentChain(verified), ...(problem && { problem }) } };
      },
    }),
  ];
}

const timeOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text));

const presentEntry = ({ at, details, correlationId, ...entry }: AuditRecord) => ({
  ...entry,
  at: isoTime(at),
  ...(details === null ? {} : { details: JSON.parse(details) as unknown }),
  ...(correlationId === null ? {} : { correlationId }),
});

const presentChain = ({ records, head }: { records: number; head: AuditLink | null }) => ({
  records,
  ...(head === null ? {} : { head: writeLink(head) }),
});
