import { describe, expect, it } from 'vitest';
import { engineUnderTest, eventually, TENANT } from './engine-under-test.ts';
import { delay, echo, graph, held, subworkflow, to } from './workflow-definition.ts';

// This engine accepts and asks. The runners are other engines, so everything has to travel through the database.
const engine = engineUnderTest({ runner: false });
const { work } = engine;
const never = 600_000;

describe('a runner with notifications', () => {
  // Nothing is polled within the time of a test, so only hints can make an execution go on.
  const onlyHints = { engine: { pollMs: never, inboxPollMs: never } };

  it('a notification tells a runner in another process of new work', async () => {
    await engine.open(onlyHints);
    expect(await engine.run(graph('heard', [echo('a', {}, to('b')), echo('b', { ok: true })]))).toMatchObject({
      status: 'Succeeded',
    });
  });

  it('a notification tells a runner in another process of mail for a running and for a parked execution', async () => {
    await engine.open(onlyHints);
    const running = await engine.start(graph('hears-cancel', [held('step')]));
    const attempt = await work.next();
    attempt.context.signal.addEventListener('abort', () => attempt.fail(new Error('stopped')));
    const parked = await engine.start(graph('hears-asleep', [delay('nap', 3_600_000)]));
    await eventually(() => engine.queueState(parked)).toBe('parked');
    for (const executionId of [running, parked]) {
      await engine.pawl.executions.cancel(TENANT, executionId);
      expect((await engine.pawl.result(executionId)).status).toBe('Cancelled');
    }
  });

  it('a notification wakes a parked parent whose child ended, and a parked child whose parent was cancelled', async () => {
    await engine.open(onlyHints);
    await engine.pawl.publish(graph('short', [echo('a', { ok: true })]));
    await engine.pawl.publish(graph('above-short', [subworkflow('low', 'short')]));
    const returned = await engine.run(graph('top', [subworkflow('mid', 'above-short')]));
    expect(returned).toMatchObject({ status: 'Succeeded', outputs: { outputs: { outputs: { ok: true } } } });

    await engine.pawl.publish(graph('long', [delay('nap', 3_600_000)]));
    const parent = await engine.start(graph('above-long', [subworkflow('low', 'long')]));
    const child = async () =>
      (await engine.pawl.store.executionChildren({ executionId: parent }))[0]?.executionId ?? '';
    await eventually(async () => engine.queueState(await child())).toBe('parked');
    await engine.pawl.executions.cancel(TENANT, parent);
    expect((await engine.pawl.result(await child())).status).toBe('Cancelled');
  });

  it('malformed notifications do no harm', async () => {
    await engine.open(onlyHints);
    for (const note of ['', 'nonsense', '[]', 'null', '{"mail":["x","not-an-id"]}', '{"work":1,"test":"?"}']) {
      await engine.sql('select pg_notify($1, $2)', ['pawl_hint', note]);
    }
    expect((await engine.run(graph('unmoved', [echo('a')]))).status).toBe('Succeeded');
  });
});

describe('without notifications', () => {
  // NOTIFY is accepted and delivered to nobody, as with a transaction pooler.
  const silenced = engineUnderTest({ runner: false });

  it('an engine without notifications logs a warning, and everything else works the same', async () => {
    const name = new URL(silenced.url).pathname.slice(1);
    await silenced.sql('create schema silent');
    await silenced.sql(`create function silent.pg_notify(text, text) returns void language sql as 'select'`);
    await silenced.sql(`alter database ${name} set search_path = silent, pg_catalog, public`);
    const [door] = await Promise.all([silenced.open({ runner: false }), silenced.open()]);
    expect(silenced.warnings.filter(({ event }) => event.startsWith('notifications do not arrive'))).toHaveLength(2);

    await door.publish(graph('unheard', [echo('a', {}, to('b')), held('b', to('nap')), delay('nap', 100)]));
    const { executionId } = await door.start('unheard');
    const attempt = await silenced.work.next();
    const signal = { signalId: 's1', type: 'ESCALATE_ALERT' as const, payload: {} };
    await door.executions.signal(TENANT, executionId, signal);
    await eventually(() => silenced.facts(executionId)).toContainEqual(expect.objectContaining({ signalId: 's1' }));
    attempt.succeed();
    expect((await door.result(executionId)).status).toBe('Succeeded');

    const { executionId: cancelled } = await door.start('unheard');
    const stopped = await silenced.work.next();
    stopped.context.signal.addEventListener('abort', () => stopped.fail(new Error('stopped')));
    await door.executions.cancel(TENANT, cancelled);
    expect((await door.result(cancelled)).status).toBe('Cancelled');
  });
});
