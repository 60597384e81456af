// Quotas of tenants, for the operator of the installation. A tenant's own admin sees its quota and nothing of others (S1);
// setting one, or reading another tenant's, needs the role System.

import { ERROR_CODES } from '../../core/error/codes.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import { tenantListQuery, tenantSchema } from '../../protocol/audit.ts';
import { pageOf } from '../../protocol/page.ts';
import { type QuotaJson, type QuotaLimits, quotaParams, quotaRequest, quotaSchema } from '../../protocol/quota.ts';
import type { QuotaReport } from '../../quota/quotas.ts';
import { nextMonthAt } from '../../store/quota-refusal.ts';
import type { Caller } from '../caller.ts';
import { cursorAfter, page, placeOf } from '../cursor.ts';
import type { RouteParts } from '../parts.ts';
import { isoTime } from '../present/field.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

const one = {
  access: 'admin',
  tag: 'Admin',
  path: '/api/v1/admin/tenants/:tenantId/quota',
  notFound: 'TENANT_NOT_FOUND',
  params: quotaParams,
  responses: { 200: quotaSchema },
} as const;

export function quotaRoutes({ quotas }: Pick<RouteParts, 'quotas'>): RouteSpec[] {
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
      summary: 'Tenants and their usage: all of them for the role System, otherwise your own',
      query: tenantListQuery,
      responses: { 200: pageOf(tenantSchema) },
      async handle({ query: { limit, cursor }, caller }) {
        const only = caller.roles.has('System') ? null : caller.tenantId;
        return page(
          limit,
          (limit) => quotas.tenants({ afterId: placeOf(cursor), limit, only }),
          ({ tenantId }) => cursorAfter(tenantId),
          (tenants) => tenants.map(({ preset, ...tenant }) => ({ ...tenant, ...(preset === null ? {} : { preset }) })),
        );
      },
    }),
    defineRoute({
      ...one,
      method: 'GET',
      summary: 'The quota of a tenant and its usage',
      handle: ({ params: { tenantId }, caller }) => {
        requireKnown(caller, tenantId);
        return report(tenantId);
      },
    }),
    defineRoute({
      ...one,
      method: 'PUT',
      summary: 'Set the quota of a tenant: a preset, its own limits, or both; `{ "preset": null }` removes it',
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
