// Probes and metrics. The probes say nothing about anybody's data, so they are public; the rest is for operators.

import { detailedHealthSchema, healthSchema, livenessSchema, readinessSchema } from '../../protocol/operation.ts';
import type { Health } from '../health.ts';
import type { Metrics } from '../metrics.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

export interface HealthRoutesDeps {
  readonly health: Health;
  readonly metrics: Metrics;
}

const probe = { method: 'GET', tag: 'Health', access: 'public', unlimited: true, anyQuery: true } as const;
const forOperators = { method: 'GET', tag: 'Health', access: 'admin', unlimited: true, anyQuery: true } as const;

export function healthRoutes({ health, metrics }: HealthRoutesDeps): RouteSpec[] {
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
      summary: 'Can it do its work? Database, queue and actions',
      responses: { 200: readinessSchema, 503: readinessSchema },
      async handle() {
        const readiness = await health.readiness();
        return { status: readiness.status === 'ready' ? 200 : 503, body: readiness };
      },
    }),
    defineRoute({
      ...probe,
      path: '/engine/health',
      summary: 'healthy, degraded or unhealthy',
      responses: { 200: healthSchema, 503: healthSchema },
      async handle() {
        const status = await health.status();
        return { status: status === 'unhealthy' ? 503 : 200, body: { status } };
      },
    }),
    defineRoute({
      ...forOperators,
      path: '/engine/health/detailed',
      summary: 'The same, with every check and its numbers',
      responses: { 200: detailedHealthSchema, 503: detailedHealthSchema },
      async handle() {
        const detailed = await health.detailed();
        return { status: detailed.status === 'unhealthy' ? 503 : 200, body: detailed };
      },
    }),
    defineRoute({
      ...forOperators,
      path: '/metrics',
      summary: 'Prometheus metrics',
      responses: { 200: null },
      sends: 'text/plain',
      handle: async () => ({
        status: 200,
        headers: { 'content-type': metrics.contentType },
        body: await metrics.text(),
      }),
    }),
  ];
}
