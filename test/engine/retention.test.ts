import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { engineUnderTest, eventually, TENANT } from './engine-under-test.ts';
import { delay, echo, graph, held, subworkflow, to } from './workflow-definition.ts';

const unreadable = new Set<string>();
const engine = engineUnderTest({ unreadable, engine: { retentionMs: 0 } });
const { work } = engine;

const TABLES = [
  'workflow_executions',
  'execution_outcomes',
  'execution_events',
  'action_executions',
  'execution_checkpoints',
  'execution_inbox',
  'execution_signals',
  'workflow_resource_links',
  'action_logs',
];

/** Purges the executions that had ended by now, or by the given moment. */
async function purge({ before, limit = 1_000 }: { before?: number; limit?: number } = {}): Promise<number> {
  const endedBefore = before ?? (await nextMoment());
  // Executions whose events are not published yet are kept.
  await eventually(() => engine.sql('select from commit_batches')).toEqual([]);
  return engine.pawl.store.retentionPurge({ endedBefore, limit });
}

/** A time later than everything that has happened so far, and earlier than everything that comes next. */
async function nextMoment(): Promise<number> {
  const moment = (await engine.pawl.store.now()) + 1;
  await eventually(() => engine.pawl.store.now()).toBeGreaterThan(moment);
  return moment;
}

async function rowsOf(executionId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of TABLES) {
    const column = table === 'workflow_executions' ? 'id' : 'execution_id';
    const [row] = await engine.sql<{ n: number }>(`select count(*)::int as n from ${table} where ${column} = $1`, [
      executionId,
    ]);
    if (row!.n > 0) counts[table] = row!.n;
  }
  return counts;
}

describe('retention', () => {
  it('retention removes every row of executions that ended long ago, and nothing else', async () => {
    const definition = graph('forgettable', [held('a', to('b')), echo('b')]);
    const old = await engine.start(definition);
    const attempt = await work.next();
    attempt.context.log.info('a line');
    attempt.succeed({}, [{ system: 's', resourceType: 't', resourceId: 'r' }]);
    await engine.pawl.result(old);
    const before = await nextMoment();
    const { executionId: recent } = await engine.run(graph('recent', [echo('a')]));
    expect(Object.keys(await rowsOf(old))).toEqual(
      expect.arrayContaining([
        'workflow_executions',
        'execution_outcomes',
        'execution_events',
        'action_executions',
        'workflow_resource_links',
        'action_logs',
      ]),
    );
    expect(await purge({ before })).toBe(1);
    expect(await rowsOf(old)).toEqual({});
    expect(await rowsOf(recent)).toMatchObject({ workflow_executions: 1, execution_outcomes: 1 });
    await expect(engine.pawl.executions.get(TENANT, old)).rejects.toMatchObject({ code: 'EXECUTION_NOT_FOUND' });
    expect((await engine.pawl.start('forgettable')).isNew).toBe(true);
    (await work.next()).succeed();
  });

  it('retention keeps live executions, however old they are', async () => {
    const running = await engine.start(graph('alive', [held('a')]));
    const attempt = await work.next();
    const parked = await engine.start(graph('alive-asleep', [delay('nap', 3_600_000)]));
    await eventually(() => engine.queueState(parked)).toBe('parked');
    // The start of a long action is written shortly after the action began.
    await eventually(async () => (await rowsOf(running)).execution_events).toBe(1);
    await engine.sql(`update workflow_executions set created_at = created_at - interval '1 year' where id = any($1)`, [
      [running, parked],
    ]);
    const before = [await rowsOf(running), await rowsOf(parked)];
    await purge();
    expect([await rowsOf(running), await rowsOf(parked)]).toEqual(before);
    attempt.succeed();
    expect((await engine.pawl.result(running)).status).toBe('Succeeded');
    await engine.pawl.executions.cancel(TENANT, parked);
    await engine.pawl.result(parked);
  });

  it('retention keeps a parent while its child is live, and a child while its parent is live', async () => {
    await engine.pawl.publish(graph('long-lived', [held('slow')]));
    const parent = await engine.run(
      graph('gone-ahead', [subworkflow('bg', 'long-lived', { waitForCompletion: false })]),
    );
    const slow = await work.next('slow');
    await engine.pawl.publish(graph('short-lived', [echo('quick')]));
    const waiting = await engine.start(
      graph('still-here', [subworkflow('sub', 'short-lived', to('last')), held('last')]),
    );
    const last = await work.next('last');
    const [child] = await engine.pawl.store.executionChildren({ executionId: waiting });
    await purge();
    expect(await rowsOf(parent.executionId)).toMatchObject({ workflow_executions: 1 });
    expect(await rowsOf(child!.executionId)).toMatchObject({ workflow_executions: 1 });

    slow.succeed();
    last.succeed();
    await engine.pawl.result(String((parent.outputs as JsonObject).executionId));
    await engine.pawl.result(waiting);
    await purge();
    expect(await rowsOf(parent.executionId)).toEqual({});
    expect(await rowsOf(child!.executionId)).toEqual({});
  });

  it('retention keeps executions with a dead letter until somebody has settled the letter', async () => {
    await engine.pawl.publish(graph('spoilt', [echo('a')]));
    await engine.sql(`update workflow_definitions set definition = '{}' where workflow_id = 'spoilt'`);
    const { executionId } = await engine.pawl.start('spoilt');
    unreadable.add(executionId);
    await engine.pawl.result(executionId);
    await purge();
    expect(await rowsOf(executionId)).toMatchObject({ workflow_executions: 1 });
    const [letter] = await engine.pawl.store.deadLetterList({ tenantId: TENANT, afterId: '0', limit: 1 });
    await engine.pawl.store.deadLetterPurge({ tenantId: TENANT, ids: [letter!.id] });
    await purge();
    expect(await rowsOf(executionId)).toEqual({});
  });

  it('retention deletes a limited number of executions at a time', async () => {
    await purge();
    await engine.pawl.publish(graph('many', [echo('a')]));
    const started = await Promise.all(Array.from({ length: 10 }, () => engine.pawl.start('many')));
    await Promise.all(started.map(({ executionId }) => engine.pawl.result(executionId)));
    expect(await purge({ limit: 4 })).toBe(4);
    await eventually(() => purge({ limit: 4 })).toBe(0);
  });
});
