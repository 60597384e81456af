// For operators: dead letters (list, requeue, purge) and runners.

import { z } from 'zod';
import { ERROR_CODES } from '../../core/error/codes.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import type { DeadLetters } from '../../engine/execution/dead-letters.ts';
import { countAnswer } from '../../protocol/delivery.ts';
import { deadLetterSchema, runnerSchema } from '../../protocol/operation.ts';
import { pageOf, pageQuery, shortListQuery } from '../../protocol/page.ts';
import type { DeadLetter } from '../../store/operation-port.ts';
import type { RunnerStore } from '../../store/port.ts';
import { badCursor } from '../cursor.ts';
import { isoTime } from '../present/execution.ts';
import { defineRoute, type RouteSpec } from '../route.ts';
import { shortList } from '../short-list.ts';

export interface AdminRoutesDeps {
  readonly deadLetters: DeadLetters;
  readonly runners: RunnerStore;
}

const LETTERS = '/api/v1/admin/dead-letters';
const letterId = z.string().regex(/^\d{1,18}$/);
const common = { tag: 'Admin', access: 'admin', notFound: 'DEAD_LETTER_NOT_FOUND' } as const;
const one = { ...common, params: z.object({ id: letterId }) } as const;

export function adminRoutes({ deadLetters, runners }: AdminRoutesDeps): RouteSpec[] {
  return [...lookAndRequeue(deadLetters), ...purge(deadLetters), runnersRoute(runners)];
}

function lookAndRequeue(deadLetters: DeadLetters): RouteSpec[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: LETTERS,
      summary: 'Executions that the engine gave up on, and payloads that no workflow could use, oldest first',
      query: z.object(pageQuery),
      responses: { 200: pageOf(deadLetterSchema) },
      async handle({ query: { limit, cursor = '0' }, caller }) {
        if (!letterId.safeParse(cursor).success) throw badCursor();
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

function runnersRoute(runners: RunnerStore): RouteSpec {
  return defineRoute({
    ...common,
    method: 'GET',
    path: '/api/v1/admin/runners',
    summary: 'Runners: who is alive, and how much each owns',
    query: z.object(shortListQuery),
    responses: { 200: pageOf(runnerSchema) },
    async handle({ query }) {
      const found = await runners.runnerList();
      const data = found.map(({ leaseExpiresAt, ...runner }) => ({
        ...runner,
        leaseExpiresAt: isoTime(leaseExpiresAt),
      }));
      return { status: 200, body: shortList(data, ({ runnerId }) => runnerId, query) };
    },
  });
}

function presentLetter({ enqueuedAt, payload, ...letter }: DeadLetter) {
  const given = Object.entries(letter).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(given), enqueuedAt: isoTime(enqueuedAt), payload: JSON.parse(payload) as unknown };
}

const noLetter = () => new PawlError('DEAD_LETTER_NOT_FOUND', ERROR_CODES.DEAD_LETTER_NOT_FOUND.message);
