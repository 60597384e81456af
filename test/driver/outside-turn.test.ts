// The turn service on PostgreSQL: an outside engine may call it late, twice, in any order or from several processes.

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Stop } from '../../src/action/stop.ts';
import { InterruptedAttemptError } from '../../src/engine/turn/outside-turn.ts';
import { delay, echo, graph, subworkflow, to, tries } from '../engine/workflow-definition.ts';
import { attemptRows, outsideUnderTest, succeed, TENANT } from './outside-engine.ts';

const outside = outsideUnderTest();
const work = (id: string, rest = {}) => ({ id, actionType: 'test.outside', ...rest });
const name = () => `w-${randomUUID()}`;
const failing = { ok: false as const, error: { code: 'NO', message: 'no' }, retryable: true };
const nodesOf = async (executionId: string) => {
  const { state } = await outside.pawl.executions.inspect(TENANT, executionId);
  return Object.fromEntries(state.plan.nodes.map(({ id }, index) => [id, state.nodes[index]!.status]));
};

describe('advance', () => {
  test('advance starts an execution, and gives the same answer when it is called again', async () => {
    const id = await outside.start(graph(name(), [echo('a', { x: 1 }, to('b')), echo('b')]));
    const turns = outside.process();
    const first = await turns.advance({ executionId: id, epoch: 1 });
    expect(first).toMatchObject({
      status: 'Running',
      attempts: [{ nodeId: 'a', attempt: 1, taskQueue: 'tq-control-default' }],
    });
    expect(await turns.advance({ executionId: id, epoch: 1 })).toEqual(first);
    expect(await outside.process().advance({ executionId: id, epoch: 1 })).toEqual(first);
    expect(await outside.pawl.store.executionJournal({ executionId: id, afterSeq: -1, limit: 10 })).toHaveLength(1);
    await outside.drive(turns, id);
  });

  test('advance lists only the attempts started since the answer that the caller names', async () => {
    const id = await outside.start(graph(name(), [echo('a', {}, to('b', 'c')), work('b'), work('c')]));
    const turns = outside.process();
    const { seq } = await turns.advance({ executionId: id, epoch: 1 });
    const after = await turns.runAttempt({ executionId: id, epoch: 1, nodeId: 'a', attempt: 1, since: seq });
    expect(after.attempts.map(({ nodeId }) => nodeId)).toEqual(['b', 'c']);
    expect((await turns.advance({ executionId: id, epoch: 1, since: after.seq })).attempts).toEqual([]);
    await outside.drive(turns, id);
  });

  test('advance answers Over at another epoch, after the end, and for a native execution', async () => {
    const turns = outside.process();
    const id = await outside.start(graph(name(), [echo('a')]));
    expect(await turns.advance({ executionId: id, epoch: 2 })).toMatchObject({ status: 'Over', ended: true });
    await outside.drive(turns, id);
    expect(await turns.advance({ executionId: id, epoch: 1 })).toMatchObject({ status: 'Over', ended: true });
    const { workflowId } = await outside.pawl.publish(graph(name(), [delay('long', 60_000)]));
    const { executionId } = await outside.pawl.start(workflowId);
    expect(await turns.advance({ executionId, epoch: 1 })).toMatchObject({ status: 'Over' });
    await outside.pawl.executions.cancel(TENANT, executionId);
    await outside.pawl.result(executionId);
  });

  test('advance never lets a native runner take the execution', async () => {
    const id = await outside.start(
      graph(
        name(),
        [delay('short', 20), echo('b')].map((node, i) => (i === 0 ? { ...node, ...to('b') } : node)),
      ),
    );
    await outside.send(id, { kind: 'signal', signalId: randomUUID(), type: 'PAUSE', payload: {} });
    await outside.send(id, { kind: 'signal', signalId: randomUUID(), type: 'RESUME', payload: {} });
    const turns = outside.process();
    await outside.drive(turns, id);
    expect(await outside.status(id)).toBe('Succeeded');
    expect(outside.ran).toEqual(['b:1']);
  });
});

describe('an attempt', () => {
  test('an attempt gets the recorded parameters, and its outputs reach the next attempt', async () => {
    const seen: unknown[] = [];
    outside.answer = ({ params }) => {
      seen.push(params);
      return succeed({ n: (params as { n: number }).n + 1 });
    };
    const b = work('b', { parameters: { n: '{{ context.data.a.n }}' } });
    const id = await outside.start(graph(name(), [work('a', { parameters: { n: 1 }, ...to('b') }), b]));
    // Another process runs each step, so none has the memory of another.
    const epoch = 1;
    await outside.process().advance({ executionId: id, epoch });
    await outside.process().runAttempt({ executionId: id, epoch, nodeId: 'a', attempt: 1 });
    await outside.process().runAttempt({ executionId: id, epoch, nodeId: 'b', attempt: 1 });
    expect(seen).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await outside.status(id)).toBe('Succeeded');
  });

  test('an attempt run twice at once is recorded once, and both callers get the open attempts', async () => {
    const id = await outside.start(graph(name(), [work('a', to('b')), work('b')]));
    const [here, there] = [outside.process(), outside.process()];
    await here.advance({ executionId: id, epoch: 1 });
    const attempt = { executionId: id, epoch: 1, nodeId: 'a', attempt: 1 };
    const answers = await Promise.all([here.runAttempt(attempt), there.runAttempt(attempt)]);
    for (const open of answers) expect(open.attempts).toMatchObject([{ nodeId: 'b', attempt: 1 }]);
    expect(await attemptRows(outside, id)).toEqual(['a:1 Succeeded']);
    await outside.drive(here, id);
  });

  test('an attempt is not run again after its result was recorded', async () => {
    const id = await outside.start(graph(name(), [work('a', to('b')), work('b')]));
    const turns = outside.process();
    await turns.advance({ executionId: id, epoch: 1 });
    const attempt = { executionId: id, epoch: 1, nodeId: 'a', attempt: 1 };
    await turns.runAttempt(attempt);
    const again = await turns.runAttempt(attempt);
    expect(outside.ran).toEqual(['a:1']);
    expect(again.attempts).toMatchObject([{ nodeId: 'b' }]);
    await outside.drive(turns, id);
  });

  test('a failed attempt is open again after its delay, with the same idempotency key', async () => {
    const keys: string[] = [];
    outside.answer = ({ idempotencyKey, attempt }) => {
      keys.push(idempotencyKey);
      return attempt < 3 ? failing : succeed();
    };
    const id = await outside.start(graph(name(), [work('a', tries(3))]));
    await outside.drive(outside.process(), id);
    expect(await attemptRows(outside, id)).toEqual(['a:1 RetriableFailure', 'a:2 RetriableFailure', 'a:3 Succeeded']);
    expect(new Set(keys).size).toBe(1);
  });

  test('of an earlier epoch changes nothing', async () => {
    outside.answer = () => ({ ...failing, retryable: false });
    const id = await outside.start(graph(name(), [work('a')]));
    const zombie = outside.process();
    await zombie.advance({ executionId: id, epoch: 1 });
    const turns = outside.process();
    await outside.drive(turns, id);
    expect(await outside.status(id)).toBe('Failed');
    await outside.pawl.executions.retry(TENANT, id);
    const { epoch } = (await outside.pawl.store.externalGet({ executionId: id }))!;
    outside.answer = () => succeed();
    expect(await zombie.runAttempt({ executionId: id, epoch: 1, nodeId: 'a', attempt: 1 })).toMatchObject({
      status: 'Over',
    });
    await outside.drive(turns, id, epoch);
    expect(await outside.status(id)).toBe('Succeeded');
    expect(await attemptRows(outside, id)).toEqual(['a:1 Failed', 'a:2 Succeeded']);
  });

  test('an attempt that its worker interrupts has no outcome and can be run again', async () => {
    const stop = new Stop();
    outside.answer = () => ({
      ok: false,
      error: { code: 'CANCELLED', message: 'told to' },
      retryable: false,
      aborted: true,
    });
    const id = await outside.start(graph(name(), [work('a')]));
    const turns = outside.process();
    await turns.advance({ executionId: id, epoch: 1 });
    const attempt = { executionId: id, epoch: 1, nodeId: 'a', attempt: 1 };
    await expect(turns.runAttempt(attempt, stop)).rejects.toThrow(InterruptedAttemptError);
    outside.answer = () => succeed();
    await outside.drive(outside.process(), id);
    expect(await attemptRows(outside, id)).toEqual(['a:1 Succeeded']);
  });

  test('an outcome that a worker hands in twice is recorded once', async () => {
    const id = await outside.start(graph(name(), [work('a')]));
    const turns = outside.process();
    await turns.advance({ executionId: id, epoch: 1 });
    const attempt = { executionId: id, epoch: 1, nodeId: 'a', attempt: 1 };
    await turns.handIn(attempt, TENANT, succeed({ n: 1 }));
    await turns.handIn(attempt, TENANT, succeed({ n: 2 }));
    expect(await turns.advance({ executionId: id, epoch: 1 })).toMatchObject({ status: 'Succeeded', ended: true });
    expect(await outside.pawl.result(id)).toMatchObject({ outputs: { n: 1 } });
    expect(outside.told).toContain(id);
  });
});

describe('cancel', () => {
  test('a cancel tells open attempts to stop, and the execution ends with their outcomes', async () => {
    const id = await outside.start(graph(name(), [work('a', to('b')), work('b')]));
    const turns = outside.process();
    await turns.advance({ executionId: id, epoch: 1 });
    const stop = new Stop();
    const aborted = Promise.withResolvers<void>();
    stop.addEventListener('abort', () => aborted.resolve());
    outside.answer = async () => {
      await aborted.promise;
      return { ok: false, error: { code: 'CANCELLED', message: 'stopped' }, retryable: false, aborted: true };
    };
    const running = turns.runAttempt({ executionId: id, epoch: 1, nodeId: 'a', attempt: 1 }, stop);
    await expect.poll(() => outside.ran).toEqual(['a:1']);
    await outside.send(id, { kind: 'cancel' });
    const open = await turns.advance({ executionId: id, epoch: 1 });
    expect(open).toMatchObject({ stopping: true, attempts: [{ nodeId: 'a', abort: true }] });
    expect(await running).toMatchObject({ status: 'Cancelled', ended: true });
    expect(await nodesOf(id)).toEqual({ a: 'Cancelled', b: 'Skipped' });
  });

  test('a cancelled attempt that no worker has begun does not run', async () => {
    const id = await outside.start(graph(name(), [work('a')]));
    const turns = outside.process();
    await turns.advance({ executionId: id, epoch: 1 });
    await outside.send(id, { kind: 'cancel' });
    await turns.advance({ executionId: id, epoch: 1 });
    const open = await turns.runAttempt({ executionId: id, epoch: 1, nodeId: 'a', attempt: 1 });
    expect(open).toMatchObject({ status: 'Cancelled', ended: true });
    expect(outside.ran).toEqual([]);
  });
});

describe('a subworkflow', () => {
  test('a subworkflow runs on the engine of its parent, and the parent is told of its end', async () => {
    const child = name();
    await outside.publish(graph(child, [work('inner')], { outputs: { n: '{{ trigger.n }}' } }));
    const id = await outside.start(graph(name(), [subworkflow('sub', child, { parameters: { n: 7 } })]));
    const turns = outside.process();
    const open = await turns.advance({ executionId: id, epoch: 1 });
    const [{ executionId: childId }] = open.children as unknown as [{ executionId: string }];
    const view = await outside.pawl.executions.get(TENANT, childId);
    expect(view).toMatchObject({ driver: 'temporal', parentId: id, status: 'Pending' });
    await outside.drive(turns, childId);
    expect(outside.told).toContain(id);
    expect(await turns.advance({ executionId: id, epoch: 1 })).toMatchObject({ status: 'Succeeded' });
  });

  test('an unknown subworkflow fails its node, also when the first process died before it recorded that', async () => {
    const id = await outside.start(graph(name(), [subworkflow('sub', 'nowhere')]));
    // The first process loses its connection after its first turn, so the next process has to find the refusal.
    const { store } = outside.pawl;
    let commits = 0;
    const dying = outside.process({
      store: {
        ...store,
        async externalCommit(turn) {
          if (++commits > 1) throw new Error('died');
          return store.externalCommit(turn);
        },
      },
    });
    await expect(dying.advance({ executionId: id, epoch: 1 })).rejects.toThrow('died');
    await outside.drive(outside.process(), id);
    expect(await outside.status(id)).toBe('Failed');
  });

  test('a subworkflow that nobody waits for lets its parent go on', async () => {
    const child = name();
    await outside.publish(graph(child, [work('inner')]));
    const id = await outside.start(graph(name(), [subworkflow('sub', child, { waitForCompletion: false })]));
    const turns = outside.process();
    expect(await turns.advance({ executionId: id, epoch: 1 })).toMatchObject({ status: 'Succeeded' });
    const [started] = await outside.pawl.store.executionChildren({ executionId: id });
    await outside.drive(turns, started!.executionId);
  });
});

test('many parallel attempts in several processes fire their join once', async () => {
  const leaves = Array.from({ length: 12 }, (_, i) => work(`n${i}`, to('join')));
  const id = await outside.start(
    graph(name(), [work('root', to(...leaves.map(({ id: leaf }) => leaf))), ...leaves, work('join')]),
  );
  const processes = [outside.process(), outside.process(), outside.process()];
  await processes[0]!.advance({ executionId: id, epoch: 1 });
  await processes[0]!.runAttempt({ executionId: id, epoch: 1, nodeId: 'root', attempt: 1 });
  await Promise.all(
    leaves.map(({ id: nodeId }, i) => processes[i % 3]!.runAttempt({ executionId: id, epoch: 1, nodeId, attempt: 1 })),
  );
  await outside.drive(processes[1]!, id);
  expect(outside.ran.filter((ran) => ran.startsWith('join'))).toEqual(['join:1']);
  expect(await outside.status(id)).toBe('Succeeded');
});

test('an execution whose definition cannot be compiled any more ends as Failed', async () => {
  const workflow = name();
  const id = await outside.start(graph(workflow, [work('a')]));
  const turns = outside.process({
    plans: { known: () => undefined, plan: async () => ({ problem: 'it is broken' }) },
  });
  expect(await turns.advance({ executionId: id, epoch: 1 })).toMatchObject({ status: 'Over' });
  expect(await outside.status(id)).toBe('Failed');
});

test('a lost run fails its execution with the reason, and a retry starts the execution again', async () => {
  const id = await outside.start(graph(name(), [work('a')]));
  const turns = outside.process();
  await turns.advance({ executionId: id, epoch: 1 });
  await turns.close({ executionId: id, epoch: 1 }, { code: 'RUN_LOST', message: 'terminated' });
  expect(await outside.pawl.result(id)).toMatchObject({ status: 'Failed', error: { code: 'RUN_LOST' } });
  await outside.pawl.executions.retry(TENANT, id);
  const { epoch } = (await outside.pawl.store.externalGet({ executionId: id }))!;
  await outside.drive(turns, id, epoch);
  expect(await outside.status(id)).toBe('Succeeded');
});
