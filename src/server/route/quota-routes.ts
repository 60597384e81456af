// Quotas of tenants, for whoever runs the installation. A tenant's own admin sees its quota and nothing of others (S1);
// setting one, or looking at another tenant's, is for the role System.

import { ERROR_CODES } from '../../core/error/codes.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import { tenantListQuery, tenantSchema } from '../../protocol/audit.ts';
import { pageOf } from '../../protocol/page.ts';
import { type QuotaJson, type QuotaLimits, quotaParams, quotaRequest, quotaSchema } from '../../protocol/quota.ts';
import type { QuotaReport, Quotas } from '../../quota/quotas.ts';
import { nextMonthAt } from '../../store/quota-refusal.ts';
import type { Caller } from '../caller.ts';
import { cursorAfter, placeOf } from '../cursor.ts';
import { defineRoute, type RouteSpec } from '../route.ts';
import { isoTime } from './workflow-view.ts';

const one = {
  access: 'admin',
  tag: 'Admin',
  path: '/api/v1/admin/tenants/:tenantId/quota',
  notFound: 'TENANT_NOT_FOUND',
  params: quotaParams,
  responses: { 200: quotaSchema },
} as const;

export function quotaRoutes({ quotas }: { readonly quotas: Quotas }): RouteSpec[] {
  const report = async (tenantId: string) => {
    const found = await quotas.report(tenantId);
    if (found === null) throw unknownTenant();
    return { status: 200, body: quotaView(found) };
  };
  return [
    defineRoute({
      access: 'admin',
      tag: 'Admin',
      method: 'GET',
      path: '/api/v1/admin/tenants',
      summary: 'Tenants and what they have: all of them for the role System, otherwise your own',
      query: tenantListQuery,
      responses: { 200: pageOf(tenantSchema) },
      async handle({ query: { limit, cursor }, caller }) {
        const only = caller.roles.has('System') ? null : caller.tenantId;
        const found = await quotas.tenants({ afterId: placeOf(cursor), limit: limit + 1, only });
        const data = found.slice(0, limit).map(({ preset, ...tenant }) => {
          return { ...tenant, ...(preset === null ? {} : { preset }) };
        });
        const next = found.length > limit ? { nextCursor: cursorAfter(data.at(-1)!.tenantId) } : {};
        return { status: 200, body: { data, ...next } };
      },
    }),
    defineRoute({
      ...one,
      method: 'GET',
      summary: 'What a tenant may have, and what it uses',
      handle: ({ params: { tenantId }, caller }) => {
        requireKnown(caller, tenantId);
        return report(tenantId);
      },
    }),
    defineRoute({
      ...one,
      method: 'PUT',
      summary: 'Set the quota of a tenant: a preset, limits of its own, or both; `{ "preset": null }` lifts it',
      body: quotaRequest,
      async handle({ params: { tenantId }, body, caller, by }) {
        requireKnown(caller, tenantId);
        if (!caller.roles.has('System')) throw new PawlError('FORBIDDEN', 'setting a quota needs the role System');
        await quotas.put(tenantId, body, by);
        return report(tenantId);
      },
    }),
  ];
}

function requireKnown({ tenantId, roles }: Caller, wanted: string): void {
  if (wanted !== tenantId && !roles.has('System')) throw unknownTenant();
}

const unknownTenant = (): PawlError => new PawlError('TENANT_NOT_FOUND', ERROR_CODES.TENANT_NOT_FOUND.message);

function quotaView({ tenantId, preset, limits, usage }: QuotaReport): QuotaJson {
  return {
    tenantId,
    ...(preset === null ? {} : { preset }),
    limits: shownLimits(limits),
    usage: {
      workflows: usage.workflows,
      concurrentRuns: usage.liveRuns,
      executionsThisMonth: usage.executions,
      resetsAt: isoTime(nextMonthAt(usage.at)),
    },
  };
}

/** Absent rather than null, as everywhere. */
function shownLimits(limits: QuotaLimits): QuotaJson['limits'] {
  const set = Object.entries(limits).filter(([, limit]) => limit !== null);
  return Object.fromEntries(set) as QuotaJson['limits'];
}
