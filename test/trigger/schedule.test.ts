// Schedules on a real database (I8, I9): every slot fires exactly once, however many schedulers look, die or come late.

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PawlError } from '../../src/core/error/pawl-error.ts';
import { Judge } from '../../src/trigger/activation.ts';
import type { StartExecution } from '../../src/trigger/firing.ts';
import { Scheduler, type SchedulerDeps } from '../../src/trigger/scheduler.ts';
import { useServer } from '../server/api-server.ts';
import { withClient } from '../support/database.ts';
import { createTrigger, executionsOf, firings, publishEcho } from './trigger-api.ts';

const server = useServer({ trigger: { enableSchedules: false } });
const MINUTE = 60_000;
const LEASE = 30_000;
/** The tests take place in 2031, so that the creation of a trigger is always in their past. */
const NOON = Date.parse('2031-06-02T12:00:00Z');
const at = (minutes: number): string => new Date(NOON + minutes * MINUTE).toISOString();

let now = NOON;
const OPTIONS = { pollMs: 1_000, leaseMs: LEASE, graceMs: 60_000, firingRetentionMs: 30 * 24 * 3_600_000 };
let workflows = 0;
let workflowId: string;

beforeAll(() => publishEcho(server, 'warm-up'));
beforeEach(async () => {
  now = NOON;
  workflowId = `scheduled-${++workflows}`;
  await query('update workflow_triggers set is_enabled = false');
  await publishEcho(server, workflowId);
});

const query = (text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> =>
  withClient(server.database.connectionString, async (client) => (await client.query(text, values)).rows);

function scheduler(replaced: Partial<SchedulerDeps> = {}): Scheduler {
  const { store, executions } = server.pawl;
  return new Scheduler({
    store,
    start: (request) => executions.start(request),
    judge: new Judge(),
    observer: { fired: () => {}, warn: () => {} },
    timers: { after: () => () => {} },
    options: OPTIONS,
    now: () => now,
    ...replaced,
  });
}

/** Creates a schedule as if at noon, whenever the test runs. */
async function schedule(config: Record<string, string>, rest = {}): Promise<string> {
  const { id } = await createTrigger(server, { workflowId, triggerType: 'Schedule', config, ...rest });
  await settle(id, NOON);
  return id;
}

const settle = (id: string, through: number) =>
  query(`update workflow_triggers set settled_through = $2, due_at = '-infinity' where id = $1`, [
    id,
    new Date(through),
  ]);

/** Runs the scheduler until nothing is due. */
async function runAll(one = scheduler()): Promise<void> {
  while ((await one.runOnce()).claimed > 0);
}

const slots = async (): Promise<string[]> =>
  (await executionsOf(server, workflowId))
    .map(({ trigger }) => (trigger as { scheduledFor: string }).scheduledFor)
    .sort();

describe('slots of a schedule', () => {
  it('four schedulers at the same time fire each slot exactly once', async () => {
    const crons = ['*/5 * * * *', '*/7 * * * *', '0 * * * *', '*/30 * * * * *'];
    const ids = await Promise.all(crons.map((cron) => schedule({ cron, catchUp: 'all' })));
    const four = [1, 2, 3, 4].map(() => scheduler({ options: { ...OPTIONS, batch: 2 } }));
    for (now = NOON; now <= NOON + 60 * MINUTE; now += 20_000) await Promise.all(four.map((one) => one.runOnce()));
    now = NOON + 60 * MINUTE;
    await runAll();
    const rows = await query(
      `select request_id, count(*)::int as times from workflow_executions where workflow_id = $1 group by request_id`,
      [workflowId],
    );
    expect(rows.filter(({ times }) => times !== 1)).toEqual([]);
    const count = (id: string) =>
      rows.filter(({ request_id }) => String(request_id).startsWith(`schedule:${id}:`)).length;
    expect(ids.map(count)).toEqual([12, 9, 1, 120]);
    const [recorded] = await query(
      `select count(*)::int as firings, count(distinct execution_id)::int as executions from trigger_firings where trigger_id = any($1)`,
      [ids],
    );
    expect(recorded).toEqual({ firings: 142, executions: 142 });
  });

  it('a slot never fires early', async () => {
    await schedule({ cron: '*/10 * * * *' });
    expect(await scheduler().runOnce()).toMatchObject({ claimed: 1 });
    now = NOON + 10 * MINUTE - 1;
    expect(await scheduler().runOnce()).toEqual({ claimed: 0, waitMs: 1 });
    expect(await slots()).toEqual([]);
    now = NOON + 10 * MINUTE;
    await runAll();
    expect(await slots()).toEqual([at(10)]);
  });

  it('a change of the clocks neither skips nor repeats a daily slot', async () => {
    const config = { cron: '30 2 * * *', timezone: 'Europe/Berlin', catchUp: 'all' };
    const { id } = await createTrigger(server, { workflowId, triggerType: 'Schedule', config });
    await settle(id, Date.parse('2026-03-27T12:00:00Z'));
    for (const look of ['2026-03-28T06:00Z', '2026-03-29T01:00Z', '2026-03-29T06:00Z', '2026-03-30T06:00Z']) {
      now = Date.parse(look);
      await settleLease(id);
      await runAll();
    }
    expect(await slots()).toEqual(['2026-03-28T01:30:00.000Z', '2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z']);
  });

  const settleLease = (id: string) => query(`update workflow_triggers set due_at = '-infinity' where id = $1`, [id]);
});

describe('after downtime', () => {
  it.each([
    ['skip', [], ['skipped']],
    ['latest', [at(60)], ['started', 'skipped']],
    ['all', [10, 20, 30, 40, 50, 60].map(at), Array.from({ length: 6 }, () => 'started')],
  ])('after downtime, catchUp "%s" fires the slots that it promises', async (catchUp, expected, outcomes) => {
    const id = await schedule({ cron: '*/10 * * * *', catchUp });
    await runAll();
    now = NOON + 65 * MINUTE;
    await runAll();
    expect(await slots()).toEqual(expected);
    const recorded = await firings(server, id);
    expect(recorded.map(({ outcome }) => outcome)).toEqual(outcomes);
    const missed = recorded.find(({ outcome }) => outcome === 'skipped');
    if (missed !== undefined) expect(missed.reason).toContain(`were missed, and catchUp is "${catchUp}"`);
    now = NOON + 70 * MINUTE;
    await runAll();
    expect(await slots()).toEqual([...expected, at(70)]);
  });

  it('a long backlog of slots is caught up in portions', async () => {
    await schedule({ cron: '* * * * *', catchUp: 'all' });
    now = NOON + 25 * MINUTE;
    const small = scheduler({ options: { ...OPTIONS, portion: 10 } });
    expect(await small.runOnce()).toEqual({ claimed: 1, waitMs: 0 });
    expect(await slots()).toHaveLength(10);
    await runAll(small);
    expect(await slots()).toEqual(Array.from({ length: 25 }, (_, minute) => at(minute + 1)));
  });
});

describe('a scheduler that dies', () => {
  it('a scheduler that dies after the start leaves an execution that another scheduler finds', async () => {
    const id = await schedule({ cron: '*/10 * * * *' });
    await runAll();
    const { store } = server.pawl;
    const dying = scheduler({
      store: { ...store, scheduleSettle: () => Promise.reject(new Error('killed')) },
    });
    now = NOON + 10 * MINUTE;
    await expect(dying.runOnce()).rejects.toThrow('killed');
    expect(await slots()).toEqual([at(10)]);
    expect(await firings(server, id)).toEqual([]);
    now += LEASE - 1;
    expect(await scheduler().runOnce()).toMatchObject({ claimed: 0 });
    now += 1;
    await runAll();
    expect(await slots()).toEqual([at(10)]);
    const [{ id: executionId }] = (await query('select id from workflow_executions where workflow_id = $1', [
      workflowId,
    ])) as [{ id: string }];
    expect(await firings(server, id)).toMatchObject([{ outcome: 'started', executionId, slot: at(10) }]);
  });

  it('a scheduler that fails before the start leaves the slot to another scheduler', async () => {
    const id = await schedule({ cron: '*/10 * * * *' });
    await runAll();
    const warnings: string[] = [];
    const dying = scheduler({
      start: () => Promise.reject(new Error('the database is away')),
      observer: { fired: () => {}, warn: (event) => warnings.push(event) },
    });
    now = NOON + 10 * MINUTE;
    await dying.runOnce();
    expect([await slots(), warnings]).toEqual([[], ['a schedule could not be fired']]);
    now += LEASE;
    await runAll();
    expect(await slots()).toEqual([at(10)]);
    expect(await firings(server, id)).toHaveLength(1);
  });

  it('a scheduler paused for longer than its claim moves nothing back', async () => {
    const id = await schedule({ cron: '*/10 * * * *', catchUp: 'all' });
    await runAll();
    const gate = Promise.withResolvers<void>();
    const { start, entered } = gated(gate.promise);
    now = NOON + 10 * MINUTE;
    const paused = scheduler({ start }).runOnce();
    await entered;
    now = NOON + 30 * MINUTE;
    await runAll();
    gate.resolve();
    await paused;
    const [{ through }] = (await query('select settled_through as through from workflow_triggers where id = $1', [
      id,
    ])) as [{ through: Date }];
    expect(through.getTime()).toBe(now);
    expect(await slots()).toEqual([at(10), at(20), at(30)]);
    expect(await firings(server, id)).toHaveLength(3);
  });

  it('a scheduler that is stopped finishes the slots that it has claimed', async () => {
    await schedule({ cron: '*/10 * * * *' });
    await runAll();
    now = NOON + 10 * MINUTE;
    const gate = Promise.withResolvers<void>();
    const { start, entered } = gated(gate.promise);
    const looks: (() => void)[] = [];
    const after = (_: number, look: () => void) => {
      looks.push(look);
      return () => {};
    };
    const stopping = scheduler({ start, timers: { after } });
    stopping.start();
    looks[0]!();
    await entered;
    const stopped = stopping.stop();
    gate.resolve();
    await stopped;
    expect(await slots()).toEqual([at(10)]);
    expect(await scheduler().runOnce()).toMatchObject({ claimed: 0 });
    expect(looks).toHaveLength(1);
  });

  function gated(gate: Promise<void>): { start: StartExecution; entered: Promise<void> } {
    const { promise: entered, resolve } = Promise.withResolvers<void>();
    const start: StartExecution = async (request) => {
      resolve();
      await gate;
      return server.pawl.executions.start(request);
    };
    return { start, entered };
  }
});

describe('a schedule that changes', () => {
  it('a schedule changed while it fires follows its new times', async () => {
    const id = await schedule({ cron: '*/10 * * * *' });
    await runAll();
    now = NOON + 10 * MINUTE;
    const changing = scheduler({
      start: async (request) => {
        const started = await server.pawl.executions.start(request);
        await server.ask('PUT', `/api/v1/triggers/${id}`, { body: { config: { cron: '15 * * * *' } } });
        return started;
      },
    });
    await changing.runOnce();
    expect(await query('select due_at::text from workflow_triggers where id = $1', [id])).toEqual([
      { due_at: '-infinity' },
    ]);
    await settle(id, now);
    await runAll();
    for (now = NOON + 11 * MINUTE; now <= NOON + 20 * MINUTE; now += MINUTE) await runAll();
    expect(await slots()).toEqual([at(10), at(15)]);
  });

  it('a schedule keeps its place when only its condition changes', async () => {
    const id = await schedule({ cron: '*/10 * * * *' });
    await runAll();
    await server.ask('PUT', `/api/v1/triggers/${id}`, { body: { activationCondition: 'trigger.scheduledFor !== ""' } });
    now = NOON + 10 * MINUTE;
    await runAll();
    expect(await slots()).toEqual([at(10)]);
  });

  it('a schedule catches up nothing from the time when it was disabled or archived', async () => {
    const id = await schedule({ cron: '*/10 * * * *', catchUp: 'all' });
    const settledThrough = async () =>
      (
        await query('select settled_through as at, due_at::text as due from workflow_triggers where id = $1', [id])
      )[0] as {
        at: Date;
        due: string;
      };
    const isAnew = async () => {
      const { at: through, due } = await settledThrough();
      // The schedule is back in the present, which is the time of the database.
      expect([due, through.getTime() < NOON]).toEqual(['-infinity', true]);
      await settle(id, NOON);
    };
    await server.ask('PUT', `/api/v1/triggers/${id}`, { body: { isEnabled: false } });
    now = NOON + 30 * MINUTE;
    expect(await scheduler().runOnce()).toMatchObject({ claimed: 0 });
    await server.ask('PUT', `/api/v1/triggers/${id}`, { body: { isEnabled: true } });
    await isAnew();
    await server.post(`/api/v1/workflows/${workflowId}/archive`);
    expect(await scheduler().runOnce()).toMatchObject({ claimed: 0 });
    await server.post(`/api/v1/workflows/${workflowId}/reactivate`);
    await isAnew();
    expect(await slots()).toEqual([]);
  });
});

describe('a slot that starts nothing', () => {
  const only = async (id: string) => (await firings(server, id))[0]!;

  it('a slot whose condition is false starts nothing and is recorded', async () => {
    const id = await schedule({ cron: '*/10 * * * *' }, { activationCondition: `trigger.scheduledFor > "2099"` });
    now = NOON + 10 * MINUTE;
    await runAll();
    expect(await only(id)).toMatchObject({ outcome: 'condition_false', slot: at(10) });
  });

  it('a slot of a disabled workflow is skipped with the reason', async () => {
    const id = await schedule({ cron: '*/10 * * * *' });
    await server.ask('PATCH', `/api/v1/workflows/${workflowId}`, { body: { isEnabled: false } });
    now = NOON + 10 * MINUTE;
    await runAll();
    expect(await only(id)).toMatchObject({ outcome: 'skipped', reason: `workflow "${workflowId}" is disabled` });
  });

  it('a slot of a tenant over its limit is skipped, and the next slot fires', async () => {
    const id = await schedule({ cron: '*/10 * * * *' });
    now = NOON + 10 * MINUTE;
    await runAll(scheduler({ start: () => Promise.reject(new PawlError('RATE_LIMITED', 'too many executions')) }));
    expect(await only(id)).toMatchObject({ outcome: 'skipped', reason: 'too many executions' });
    now = NOON + 20 * MINUTE;
    await runAll();
    expect(await slots()).toEqual([at(20)]);
  });

  it('a slot whose payload breaks the triggerSchema fails and becomes a dead letter', async () => {
    await publishEcho(server, workflowId, { triggerSchema: { type: 'object', required: ['order'] } });
    const id = await schedule({ cron: '*/10 * * * *' });
    now = NOON + 10 * MINUTE;
    await runAll();
    expect(await only(id)).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('order') });
    expect((await server.get('/api/v1/admin/dead-letters')).body.data).toMatchObject([
      { triggerId: id, reason: 'TRIGGER_INVALID', payload: { triggerPayload: { scheduledFor: expect.any(String) } } },
    ]);
  });

  it('a schedule that cannot be read fails once, and is tried again after a change', async () => {
    const id = await schedule({ cron: '*/10 * * * *' });
    await query(`update workflow_triggers set config = '{"cron":"what"}' where id = $1`, [id]);
    await runAll();
    expect(await only(id)).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('cannot be used') });
    now = NOON + 1_000 * MINUTE;
    expect(await scheduler().runOnce()).toMatchObject({ claimed: 0 });
    await server.ask('PUT', `/api/v1/triggers/${id}`, { body: { config: { cron: '@hourly' } } });
    expect(await scheduler().runOnce()).toMatchObject({ claimed: 1 });
  });
});

it('old firings are deleted', async () => {
  const id = await schedule({ cron: '*/10 * * * *' });
  now = NOON + 10 * MINUTE;
  await runAll();
  await query(`update trigger_firings set fired_at = now() - interval '31 days' where trigger_id = $1`, [id]);
  await scheduler().runOnce();
  expect(await firings(server, id)).toEqual([]);
});

it('a pipeline with a cron expression gets a schedule', async () => {
  const tasks = { call: { url: `${server.url}/health/live` } };
  const name = `${workflowId}-p`;
  const bad = await server.post('/api/v1/workflows', { name, trigger: 'cron', cron_expression: '99 * * * *', tasks });
  expect([bad.status, bad.body]).toMatchObject([
    400,
    { error: { details: [{ code: 'BAD_CRON', path: '/cron_expression' }] } },
  ]);
  await server.post('/api/v1/workflows', {
    name,
    trigger: 'cron',
    cron_expression: '*/10 * * * *',
    payload: { of: 'eu' },
    tasks,
  });
  const [trigger] = (await server.get(`/api/v1/triggers?workflowId=${name}`)).body.data as { id: string }[];
  await settle(trigger!.id, NOON);
  now = NOON + 10 * MINUTE;
  await runAll();
  expect((await executionsOf(server, name)).map((execution) => execution.trigger)).toEqual([
    { body: { of: 'eu', scheduledFor: at(10) }, headers: {} },
  ]);
  await server.ask('PUT', `/api/v1/workflows/${name}`, { body: { tasks } });
  expect((await server.get(`/api/v1/triggers?workflowId=${name}`)).body.data).toMatchObject([{ id: trigger!.id }]);
  await server.ask('PUT', `/api/v1/workflows/${name}`, { body: { tasks, trigger: 'api' } });
  expect((await server.get(`/api/v1/triggers?workflowId=${name}`)).body.data).toEqual([]);
});
