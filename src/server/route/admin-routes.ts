// For operators: dead letters (list, requeue, purge) and runners.

import { z } from 'zod';
import { ERROR_CODES } from '../../core/error/codes.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import { countAnswer } from '../../protocol/delivery.ts';
import { tenantId } from '../../protocol/identifier.ts';
import {
  deadLetterListQuery,
  deadLetterSchema,
  eraseAnswer,
  eraseRequest,
  runnerSchema,
} from '../../protocol/operation.ts';
import { pageOf, shortListQuery } from '../../protocol/page.ts';
import { EVERY_TENANT } from '../../store/audit-port.ts';
import type { DeadLetter } from '../../store/operation-port.ts';
import type { RunnerInfo } from '../../store/runner-port.ts';
import { page } from '../cursor.ts';
import type { RouteParts } from '../parts.ts';
import { isoTime } from '../present/field.ts';
import { defineRoute, type RouteSpec } from '../route.ts';
import { shortList } from '../short-list.ts';

const LETTERS = '/api/v1/admin/dead-letters';
const letterId = z.string().regex(/^\d{1,18}$/);
const common = { tag: 'Admin', access: 'admin', notFound: 'DEAD_LETTER_NOT_FOUND' } as const;
const one = { ...common, params: z.object({ id: letterId }) } as const;

export function adminRoutes({
  deadLetters,
  erasure,
  store,
}: Pick<RouteParts, 'deadLetters' | 'erasure' | 'store'>): RouteSpec[] {
  return [
    defineRoute({
      ...common,
      role: 'System',
      method: 'POST',
      path: '/api/v1/admin/tenants/:tenantId/erase',
      summary: "Erase a person's data, or all data of a tenant; a dry run unless `dryRun` is false",
      params: z.object({ tenantId }),
      body: eraseRequest,
      responses: { 200: eraseAnswer },
      async handle({ params, body: { person = null, dryRun, reason }, by }) {
        const erased = await erasure.erase({ tenantId: params.tenantId, person, dryRun, reason }, by);
        return { status: 200, body: { dryRun, erased } };
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: LETTERS,
      summary:
        'Dead letters, oldest first: executions that the engine gave up on, and payloads that a workflow refused',
      query: deadLetterListQuery,
      responses: { 200: pageOf(deadLetterSchema) },
      handle({ query: { limit, cursor = '0', tenants }, caller }) {
        if (tenants === 'all' && !caller.roles.has('System')) {
          throw new PawlError('FORBIDDEN', 'dead letters of all tenants need the role System');
        }
        return page(
          limit,
          (limit) => deadLetters.list(tenants === 'all' ? null : caller.tenantId, cursor, limit),
          ({ id }) => id,
          (letters) => letters.map(presentLetter),
        );
      },
    }),
    defineRoute({
      ...one,
      method: 'POST',
      path: `${LETTERS}/:id/requeue`,
      summary: 'Retry a dead letter: run the execution again, or fire the trigger with the payload again',
      responses: { 202: z.object({ executionId: z.string() }) },
      async handle({ params: { id }, caller, by }) {
        const executionId = await deadLetters.requeue(caller.tenantId, id, by);
        if (executionId === null) throw noLetter();
        return { status: 202, body: { executionId } };
      },
    }),
    defineRoute({
      ...one,
      method: 'DELETE',
      path: `${LETTERS}/:id`,
      summary: 'Delete a dead letter; its execution stays Failed',
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
      summary: 'Delete all dead letters; their executions stay Failed',
      responses: { 200: countAnswer },
      handle: async ({ caller, by }) => ({
        status: 200,
        body: { count: await deadLetters.purgeAll(caller.tenantId, by) },
      }),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/api/v1/admin/runners',
      summary: 'List runners: which are alive, and how many executions each owns',
      query: z.object(shortListQuery),
      responses: { 200: pageOf(runnerSchema) },
      async handle({ query }) {
        const data = (await store.runnerList()).map(presentRunner);
        return { status: 200, body: shortList(data, ({ runnerId }) => runnerId, query) };
      },
    }),
    defineRoute({
      ...common,
      // It serves every tenant.
      role: 'System',
      method: 'POST',
      path: '/api/v1/admin/runners/:runnerId/drain',
      summary: 'Ask a runner to finish its attempts and take no more until it is restarted',
      params: z.object({ runnerId: letterId }),
      notFound: 'RUNNER_NOT_FOUND',
      responses: { 202: z.object({ runnerId: z.string(), state: z.literal('draining') }) },
      async handle({ params: { runnerId }, by }) {
        const isAsked = await store.audited({
          tenantId: EVERY_TENANT,
          by,
          work: (store) => store.runnerDrain({ runnerId }),
          deed: (asked) => (asked ? { action: 'runner.drain', target: `runner/${runnerId}`, details: {} } : null),
        });
        if (!isAsked) throw new PawlError('RUNNER_NOT_FOUND', `no runner ${runnerId} is live`);
        return { status: 202, body: { runnerId, state: 'draining' } };
      },
    }),
  ];
}

/** A runner without a lease does nothing, even if no other runner exists to declare it dead. */
function presentRunner({ registeredAt, leaseExpiresAt, hasLease, isDraining, state, ...runner }: RunnerInfo) {
  const said = Object.entries(runner).filter(([, value]) => value !== null);
  return {
    ...(Object.fromEntries(said) as Pick<RunnerInfo, 'runnerId' | 'name' | 'owned'>),
    state: state !== 'live' ? state : !hasLease ? ('dead' as const) : isDraining ? ('draining' as const) : state,
    registeredAt: isoTime(registeredAt)!,
    leaseExpiresAt: isoTime(leaseExpiresAt)!,
  };
}

function presentLetter({ enqueuedAt, payload, ...letter }: DeadLetter) {
  const given = Object.entries(letter).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(given), enqueuedAt: isoTime(enqueuedAt), payload: JSON.parse(payload) as unknown };
}

const noLetter = () => new PawlError('DEAD_LETTER_NOT_FOUND', ERROR_CODES.DEAD_LETTER_NOT_FOUND.message);
