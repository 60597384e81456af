// Starts over a rate limit that wait instead of being refused: they are Pending, with or without a planned start time.

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { RateAlgorithm } from '../../src/protocol/quota.ts';
import { withClient } from '../support/database.ts';
import { chain, echo, tokenFor, useServer } from './api-server.ts';

const rates = {
  ...{ perTokenPerMinute: 1_000, perTokenBurst: 1_000, readsPerTokenPerMinute: 1_000, readsPerTokenBurst: 1_000 },
  ...{ perTenantStartsPerMinute: 2, maxHoldMs: 90_000 },
};
const delaying = useServer({ rateLimit: { ...rates, whenExceeded: 'DELAY', perProject: true } });
const queueing = useServer({ rateLimit: { ...rates, whenExceeded: 'QUEUE', algorithm: 'fixed-window' } });

async function flooded(server: typeof delaying, tenant: string, count: number, project?: string) {
  const token = await tokenFor({ tenant });
  await server.pawl.publish(chain('hello', echo('a')), { tenantId: tenant });
  const body = project === undefined ? {} : { projectId: project };
  const replies = [];
  for (let asked = 0; asked < count; asked++)
    replies.push(await server.post('/api/v1/workflows/hello/execute', body, { token }));
  return { token, replies };
}

/** A fixed window ends with its minute. If a minute ends during the work, the work is repeated, as if by somebody else. */
async function withinAMinute(work: (again: number) => Promise<void>): Promise<void> {
  const minute = async () => Math.floor((await queueing.pawl.store.now()) / 60_000);
  for (let again = 0; ; again++) {
    const before = await minute();
    const failure = await work(again).then(
      () => null,
      (error: unknown) => ({ error }),
    );
    if ((await minute()) !== before) continue;
    if (failure !== null) throw failure.error;
    return;
  }
}

describe('a start over the limit', () => {
  it('a start over the limit is Pending with a planned start time, or refused beyond the longest wait', async () => {
    const { token, replies } = await flooded(delaying, 'acme', 6);
    // Two start at once, then one every 30 seconds, and none more than 90 seconds away.
    expect(replies.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202, 429]);
    const planned = replies.map(({ body }) => (body as { plannedStartAt?: string }).plannedStartAt);
    expect(planned.map((at) => at !== undefined)).toEqual([false, false, true, true, true, false]);
    expect(planned.slice(2, 5)).toEqual(planned.slice(2, 5).toSorted());
    const { executionId } = replies[2]!.body as { executionId: string };
    const shown = (await delaying.get(`/api/v1/executions/${executionId}`, { token })).body;
    expect(shown).toMatchObject({ status: 'Pending', why: 'delayed' });
    expect(Date.parse(shown.dueAt as string)).toBeGreaterThan(Date.now());
    const listed = (await delaying.get('/api/v1/executions?why=delayed', { token })).body.data as unknown[];
    expect(listed).toHaveLength(3);
    expect((await delaying.get('/api/v1/live', { token })).body).toMatchObject({ live: { delayed: 3 } });
  });

  it('a delayed start runs at its time, can be cancelled before, and is not hurried by a signal', async () => {
    const { token, replies } = await flooded(delaying, 'globex', 4);
    const [, , later, never] = replies.map(({ body }) => (body as { executionId: string }).executionId);
    const path = (id: string | undefined) => `/api/v1/executions/${id}`;
    const signal = { signalId: randomUUID(), type: 'UPDATE_PARAMS', payload: { stepId: 'a', newParams: {} } };
    expect((await delaying.post(`${path(later)}/signals`, signal, { token })).status).toBeLessThan(300);
    expect((await delaying.get(path(later), { token })).body).toMatchObject({ status: 'Pending', why: 'delayed' });
    await delaying.post(`${path(never)}/cancel`, {}, { token });
    const statusOf = async (id: string | undefined) => (await delaying.get(path(id), { token })).body.status;
    await expect.poll(() => statusOf(never)).toBe('Cancelled');
    const due = `update execution_queue set due_at = now() where execution_id = '${later}'`;
    await withClient(delaying.database.connectionString, (client) => client.query(due));
    await expect.poll(() => statusOf(later), { timeout: 10_000 }).toBe('Succeeded');
  });

  it('projects with limits of their own are counted separately', async () => {
    const one = await flooded(delaying, 'initech', 2, 'one');
    const two = await flooded(delaying, 'initech', 3, 'two');
    const planned = [...one.replies, ...two.replies].map(({ body }) => 'plannedStartAt' in body);
    expect(planned).toEqual([false, false, false, false, true]);
  });

  it('a start of a schedule waits as well, because nobody would start its slot again', async () => {
    const { token } = await flooded(delaying, 'umbrella', 2);
    const config = { cron: '* * * * *' };
    const made = await delaying.post(
      '/api/v1/triggers',
      { workflowId: 'hello', triggerType: 'Schedule', config },
      { token },
    );
    const due = `update workflow_triggers set settled_through = clock_timestamp() - interval '1 minute', due_at = '-infinity' where id = $1`;
    await withClient(delaying.database.connectionString, (client) => client.query(due, [made.body.id]));
    const held = async () =>
      (await delaying.get('/api/v1/executions?why=delayed', { token })).body.data as { requestId: string }[];
    await expect.poll(held, { timeout: 30_000 }).toMatchObject([{ status: 'Pending', why: 'delayed' }]);
    await delaying.ask('DELETE', `/api/v1/triggers/${made.body.id}`, { token });
  });

  it('a start in queue mode is Pending without a start time, also for a plan', () =>
    withinAMinute(async (again) => {
      const tenantId = `acme-${again}`;
      const { token } = await flooded(queueing, tenantId, 2);
      const metadata = { planId: 'p', planVersion: '1', createdAt: '2026-02-22T10:00:00Z', createdBy: 't' };
      const plan = {
        metadata: { ...metadata, schemaVersion: 'v1' },
        scope: { tenantId, projectId: 'p', environmentId: 'prod', repoSha: 'x' },
        steps: [{ stepId: 'a', type: 'core.echo', inputs: {}, timeout: '10s' }],
      };
      const run = await queueing.post('/api/v1/engine/runs', { plan, context: { runId: 'r1' } }, { token });
      expect(run.status).toBe(202);
      expect(run.body).not.toHaveProperty('plannedStartAt');
      const { body } = await queueing.get(run.body.statusUrl as string, { token });
      expect(body).toMatchObject({ status: 'Pending', why: 'queued' });
      // The same run again is the same run, and takes no place.
      const same = await queueing.post('/api/v1/engine/runs', { plan, context: { runId: 'r1' } }, { token });
      expect([same.status, same.body.statusUrl]).toEqual([200, run.body.statusUrl]);
    }));
});

describe('the algorithms of rate limits', () => {
  const reserve = (algorithm: RateAlgorithm, key: string, mayWaitMs: number) =>
    delaying.pawl.store.rateReserve({ algorithm, key, perMinute: 3, mayWaitMs });

  it.each(['token-bucket', 'fixed-window', 'sliding-log'] as const)(
    '%s grants no more than the limit, however many ask at once, and a refusal costs nothing',
    async (algorithm) => {
      const asked = await Promise.all(Array.from({ length: 9 }, () => reserve(algorithm, `at-once:${algorithm}`, 0)));
      const granted = asked.filter((one) => one.granted);
      // For the window, a minute may end in between.
      expect(granted.length).toBeGreaterThanOrEqual(3);
      expect(granted.length).toBeLessThanOrEqual(algorithm === 'fixed-window' ? 6 : 3);
      expect(granted.every(({ waitMs }) => waitMs === 0)).toBe(true);
      for (const { waitMs } of asked.filter((one) => !one.granted)) {
        expect(waitMs).toBeGreaterThan(0);
        expect(waitMs).toBeLessThanOrEqual(60_000);
      }
    },
  );

  it.each([
    // The most seconds that the fourth to the ninth wait: a bucket pays back one every 20 s, a window or a log three a minute.
    ['token-bucket', [20, 40, 60, 80, 100, 120]],
    ['fixed-window', [60, 60, 60, 120, 120, 120]],
    ['sliding-log', [60, 60, 60, 120, 120, 120]],
  ] as const)('%s promises later start times in order, each once', (algorithm, most) =>
    withinAMinute(async (again) => {
      const key = `in-order:${algorithm}:${again}`;
      const waits: number[] = [];
      for (let asked = 0; asked < 9; asked++) {
        const { granted, waitMs } = await reserve(algorithm, key, 600_000);
        expect(granted).toBe(true);
        waits.push(waitMs);
      }
      const later = waits.slice(3);
      for (const [index, waitMs] of later.entries()) expect(waitMs).toBeLessThanOrEqual(most[index]! * 1_000);
      if (algorithm !== 'fixed-window') expect(Math.min(...later)).toBeGreaterThan(10_000);
      expect(new Set(later.map((waitMs) => Math.round(waitMs / 10_000))).size).toBe(new Set(most).size);
      // Nobody gets in before those who were promised a place.
      expect(await reserve(algorithm, key, 0)).toMatchObject({ granted: false });
    }),
  );
});
