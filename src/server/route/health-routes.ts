// Probes and metrics. The probes say nothing about anybody's data, so they are public; the rest is for operators.

import { detailedHealthSchema, healthSchema, livenessSchema, readinessSchema } from '../../protocol/operation.ts';
import type { DetailedHealth } from '../../telemetry/health.ts';
import { withoutNames } from '../../telemetry/metric/nameless.ts';
import type { Caller } from '../caller.ts';
import type { RouteParts } from '../parts.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

const probe = { method: 'GET', tag: 'Health', access: 'public', unlimited: true, anyQuery: true } as const;
const forOperators = { method: 'GET', tag: 'Health', access: 'admin', unlimited: true, anyQuery: true } as const;

export function healthRoutes({ health, metrics }: Pick<RouteParts, 'health' | 'metrics'>): RouteSpec[] {
  return [
    defineRoute({
      ...probe,
      path: '/health/live',
      summary: 'Is the process alive?',
      responses: { 200: livenessSchema },
      handle: async () => ({ status: 200, body: { status: 'ok' } }),
    }),
    defineRoute({
      ...probe,
      path: '/health/ready',
      summary: 'Readiness: database, queue and actions',
      responses: { 200: readinessSchema, 503: readinessSchema },
      async handle() {
        const readiness = await health.readiness();
        return { status: readiness.status === 'ready' ? 200 : 503, body: readiness };
      },
    }),
    defineRoute({
      ...probe,
      path: '/engine/health',
      summary: 'Whether the installation is healthy, degraded or unhealthy, and why',
      responses: { 200: healthSchema, 503: healthSchema },
      async handle() {
        const brief = await health.brief();
        return { status: brief.status === 'unhealthy' ? 503 : 200, body: brief };
      },
    }),
    defineRoute({
      ...forOperators,
      path: '/engine/health/detailed',
      summary: 'Health in detail: every check with its numbers',
      responses: { 200: detailedHealthSchema, 503: detailedHealthSchema },
      async handle({ caller }) {
        const detailed = await health.detailed();
        const status = detailed.status === 'unhealthy' ? 503 : 200;
        return { status, body: seesNames(caller) ? detailed : withoutHolders(detailed) };
      },
    }),
    defineRoute({
      ...forOperators,
      path: '/metrics',
      summary: 'Prometheus metrics; names of tenants and workflows only for the role System',
      responses: { 200: null },
      sends: 'text/plain',
      async handle({ caller }) {
        const text = await metrics.text();
        const headers = { 'content-type': metrics.contentType };
        return { status: 200, headers, body: seesNames(caller) ? text : withoutNames(text) };
      },
    }),
  ];
}

/** The probe port needs no token, because only the inside of an installation reaches it. */
const seesNames = (caller: Caller | null): boolean => caller?.roles.has('System') ?? true;

function withoutHolders({ checks, ...health }: DetailedHealth): DetailedHealth {
  const { places, ...native } = checks.native;
  if (places === undefined) return { ...health, checks };
  const { holders: _names, ...numbers } = places;
  return { ...health, checks: { ...checks, native: { ...native, places: numbers } } };
}
