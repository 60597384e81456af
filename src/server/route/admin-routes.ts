// For operators: dead letters (list, requeue, purge) and runners.

import { z } from 'zod';
import { ERROR_CODES } from '../../core/error/codes.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import type { DeadLetters } from '../../execution/dead-letters.ts';
import { countAnswer } from '../../protocol/delivery.ts';
import { deadLetterSchema, runnerSchema } from '../../protocol/operation.ts';
import { numberCursor, pageOf, pageQuery, shortListQuery } from '../../protocol/page.ts';
import type { AuditStore } from '../../store/audit-port.ts';
import type { DeadLetter } from '../../store/operation-port.ts';
import type { RunnerInfo, RunnerStore } from '../../store/runner-port.ts';
import { isoTime } from '../present/execution.ts';
import { defineRoute, type RouteSpec } from '../route.ts';
import { shortList } from '../short-list.ts';

export interface AdminRoutesDeps {
  readonly deadLetters: DeadLetters;
  readonly runners: RunnerStore & Pick<AuditStore, 'audited'>;
}

const LETTERS = '/api/v1/admin/dead-letters';
const letterId = z.string().regex(/^\d{1,18}$/);
const common = { tag: 'Admin', access: 'admin', notFound: 'DEAD_LETTER_NOT_FOUND' } as const;
const one = { ...common, params: z.object({ id: letterId }) } as const;

export function adminRoutes({ deadLetters, runners }: AdminRoutesDeps): RouteSpec[] {
  return [...lookAndRequeue(deadLetters), ...purge(deadLetters), runnersRoute(runners), drainRoute(runners)];
}

function lookAndRequeue(deadLetters: DeadLetters): RouteSpec[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: LETTERS,
      summary: 'Executions that the engine gave up on, and payloads that no workflow could use, oldest first',
      query: z.object({ limit: pageQuery.limit, cursor: numberCursor.optional() }),
      responses: { 200: pageOf(deadLetterSchema) },
      async handle({ query: { limit, cursor = '0' }, caller }) {
        const found = await deadLetters.list(caller.tenantId, cursor, limit + 1);
        const page = found.slice(0, limit);
        const next = found.length > limit ? { nextCursor: page.at(-1)!.id } : {};
        return { status: 200, body: { data: page.map(presentLetter), ...next } };
      },
    }),
    defineRoute({
      ...one,
      method: 'POST',
      path: `${LETTERS}/:id/requeue`,
      summary: 'Try the execution again, or fire the trigger with the payload once more',
      responses: { 202: z.object({ executionId: z.string() }) },
      async handle({ params: { id }, caller, by }) {
        const executionId = await deadLetters.requeue(caller.tenantId, id, by);
        if (executionId === null) throw noLetter();
        return { status: 202, body: { executionId } };
      },
    }),
  ];
}

function purge(deadLetters: DeadLetters): RouteSpec[] {
  return [
    defineRoute({
      ...one,
      method: 'DELETE',
      path: `${LETTERS}/:id`,
      summary: 'Forget a dead letter; its execution stays Failed',
      responses: { 204: null },
      async handle({ params: { id }, caller, by }) {
        if (!(await deadLetters.purge(caller.tenantId, id, by))) throw noLetter();
        return { status: 204 };
      },
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: LETTERS,
      summary: 'Forget all dead letters; their executions stay Failed',
      responses: { 200: countAnswer },
      handle: async ({ caller, by }) => ({
        status: 200,
        body: { count: await deadLetters.purgeAll(caller.tenantId, by) },
      }),
    }),
  ];
}

function runnersRoute(runners: Pick<RunnerStore, 'runnerList'>): RouteSpec {
  return defineRoute({
    ...common,
    method: 'GET',
    path: '/api/v1/admin/runners',
    summary: 'Runners: who is alive, and how much each owns',
    query: z.object(shortListQuery),
    responses: { 200: pageOf(runnerSchema) },
    async handle({ query }) {
      const data = (await runners.runnerList()).map(presentRunner);
      return { status: 200, body: shortList(data, ({ runnerId }) => runnerId, query) };
    },
  });
}

function drainRoute(runners: AdminRoutesDeps['runners']): RouteSpec {
  return defineRoute({
    ...common,
    // It serves every tenant.
    role: 'System',
    method: 'POST',
    path: '/api/v1/admin/runners/:runnerId/drain',
    summary: 'Ask a runner to finish its attempts and to take nothing more, until its process is started again',
    params: z.object({ runnerId: letterId }),
    notFound: 'RUNNER_NOT_FOUND',
    responses: { 202: z.object({ runnerId: z.string(), state: z.literal('draining') }) },
    async handle({ params: { runnerId }, caller, by }) {
      const isAsked = await runners.audited({
        tenantId: caller.tenantId,
        by,
        work: (store) => store.runnerDrain({ runnerId }),
        deed: (asked) => (asked ? { action: 'runner.drain', target: `runner/${runnerId}`, details: {} } : null),
      });
      if (!isAsked) throw new PawlError('RUNNER_NOT_FOUND', `no runner ${runnerId} is live`);
      return { status: 202, body: { runnerId, state: 'draining' } };
    },
  });
}

function presentRunner({ registeredAt, leaseExpiresAt, isDraining, state, ...runner }: RunnerInfo) {
  const said = Object.entries(runner).filter(([, value]) => value !== null);
  return {
    ...(Object.fromEntries(said) as Pick<RunnerInfo, 'runnerId' | 'name' | 'owned'>),
    state: state === 'live' && isDraining ? ('draining' as const) : state,
    registeredAt: isoTime(registeredAt)!,
    leaseExpiresAt: isoTime(leaseExpiresAt)!,
  };
}

function presentLetter({ enqueuedAt, payload, ...letter }: DeadLetter) {
  const given = Object.entries(letter).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(given), enqueuedAt: isoTime(enqueuedAt), payload: JSON.parse(payload) as unknown };
}

const noLetter = () => new PawlError('DEAD_LETTER_NOT_FOUND', ERROR_CODES.DEAD_LETTER_NOT_FOUND.message);
