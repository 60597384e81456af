// The audit log of a tenant: who changed what. These routes read it; every change writes its own entry.

import { auditEntrySchema, auditQuery, auditVerifyAnswer, auditVerifyQuery } from '../../protocol/audit.ts';
import { pageOf } from '../../protocol/page.ts';
import { readLink, verifyChain, writeLink } from '../../store/audit-chain.ts';
import type { AuditLink, AuditRecord } from '../../store/audit-port.ts';
import { page } from '../cursor.ts';
import type { RouteParts } from '../parts.ts';
import { isoTime } from '../present/field.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

export function auditRoutes({ store }: Pick<RouteParts, 'store'>): RouteSpec[] {
  return [
    defineRoute({
      access: 'admin',
      tag: 'Admin',
      method: 'GET',
      path: '/api/v1/admin/audit',
      summary: 'The audit log, newest first',
      query: auditQuery,
      responses: { 200: pageOf(auditEntrySchema) },
      async handle({ query: { limit, cursor, after, before, ...filter }, caller: { tenantId } }) {
        const wanted = { ...filter, tenantId, beforeId: cursor ?? null, after: timeOf(after), before: timeOf(before) };
        return page(
          limit,
          (limit) => store.auditList({ ...wanted, limit }),
          ({ id }) => id,
          (records) => records.map(presentEntry),
        );
      },
    }),
    defineRoute({
      access: 'admin',
      tag: 'Admin',
      method: 'GET',
      path: '/api/v1/admin/audit/verify',
      summary:
        'Check whether a record of the audit log was changed or removed since `head`, which an earlier answer named',
      query: auditVerifyQuery,
      responses: { 200: auditVerifyAnswer },
      async handle({ query: { head }, caller: { tenantId } }) {
        const { problem, ...verified } = await verifyChain(store, tenantId, readLink(head));
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
