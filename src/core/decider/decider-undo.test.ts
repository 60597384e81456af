import { describe, expect, it } from 'vitest';
import { call, codesOf, compiled, graph, node, nodeOf, pipeline, to } from '../definition/definition.testing.ts';
import { fromCheckpoint, toCheckpoint } from './checkpoint.ts';
import { contextSnapshot } from './snapshot.ts';
import { startRun } from './test-run.testing.ts';

type Fields = Readonly<Record<string, unknown>>;

const once = { policies: { retry: { maxAttempts: 1 } } };
const saga = (fields: Fields = {}, more: Fields[] = []) =>
  compiled(
    graph(
      [
        node('a', { compensate: 'undo-a', ...to('b'), ...once }),
        node('b', { compensate: 'undo-b', ...to('c'), ...once }),
        node('c', once),
        node('undo-a', { parameters: { id: '{{ context.data.a.id }}' }, ...once }),
        node('undo-b', { parameters: { id: '{{ context.data.b.id }}' }, ...once }),
        ...more,
      ],
      fields,
    ),
  );
const failed = (fields: Fields = {}, more: Fields[] = []) => {
  const run = startRun(saga(fields, more));
  run.succeed('a', { id: 1 });
  run.succeed('b', { id: 2 });
  run.fail('c');
  return run;
};

describe('compensations', () => {
  it('compensations run one by one in reverse order of completion, and the status stays as it was', () => {
    const run = failed();
    expect(run.state.status).toBe('Running');
    expect(run.paramsOf('undo-b')).toEqual([{ id: 2 }]);
    expect(run.statusOf('undo-a')).toBe('Pending');
    run.succeed('undo-b');
    run.succeed('undo-a');
    expect(run.state).toMatchObject({ status: 'Failed', error: { code: 'BROKEN', nodeId: 'c' } });
    expect(run.state.compensation).toEqual({
      status: 'Succeeded',
      nodes: [
        { nodeId: 'undo-b', status: 'Succeeded' },
        { nodeId: 'undo-a', status: 'Succeeded' },
      ],
    });
    expect(contextSnapshot(run.state)).toHaveProperty('$compensation.status', 'Succeeded');
  });

  it('only nodes that succeeded are compensated', () => {
    const run = startRun(saga());
    run.succeed('a', { id: 1 });
    run.fail('b');
    run.succeed('undo-a');
    expect(run.statusOf('undo-b')).toBe('Skipped');
    expect(run.reasonOf('undo-b')).toBe('nothing to undo');
    expect(run.state.status).toBe('Failed');
  });

  it('no compensation runs when the execution succeeds', () => {
    const run = startRun(saga());
    run.succeed('a', { id: 1 });
    run.succeed('b', { id: 2 });
    run.succeed('c', { done: true });
    expect(run.state).toMatchObject({ status: 'Succeeded', outputs: { done: true }, compensation: null });
  });

  it('a failed compensation becomes a dead letter, and the others go on', () => {
    const run = failed();
    run.fail('undo-b');
    expect(run.commands).toContainEqual({
      type: 'deadLetter',
      node: 4,
      error: { code: 'BROKEN', message: 'it broke' },
    });
    run.succeed('undo-a');
    expect(run.state.compensation?.status).toBe('Failed');
    expect(run.signal('RETRY_STEP', { stepId: 'c', force: true })).toMatchObject([
      { refused: expect.stringContaining('undone') },
    ]);
    expect(run.signal('RERUN_FROM', { stepId: 'a' })).toMatchObject([{ refused: expect.stringContaining('undone') }]);
    expect(run.signal('RERUN_FROM', { stepId: 'undo-a' })).toMatchObject([
      { refused: expect.stringContaining('end only') },
    ]);
    expect(run.signal('COMPLETE_STEP', { stepId: 'c' })).toMatchObject([
      { refused: expect.stringContaining('undone') },
    ]);
    run.signal('RETRY_STEP', { stepId: 'undo-b', force: true });
    expect(run.statusOf('undo-b')).toBe('Running');
    run.succeed('undo-b');
    expect(run.state).toMatchObject({ status: 'Failed', compensation: { status: 'Succeeded' } });
  });

  it('a failed compensation runs again when its dead letter is requeued', () => {
    const run = failed();
    run.fail('undo-b', { timedOut: true });
    run.succeed('undo-a');
    run.send({ type: 'reopened' });
    expect(run.statuses()).toMatchObject({ 'undo-b': 'Running', 'undo-a': 'Succeeded' });
    run.succeed('undo-b');
    expect(run.state.error).toMatchObject({ nodeId: 'c' });
  });

  it('compensations run after a cancel; a second cancel keeps them, and a termination stops them', () => {
    const run = startRun(saga());
    run.succeed('a', { id: 1 });
    run.send({ type: 'cancel', reason: 'stop' });
    run.fail('b', { aborted: true, retryable: false });
    expect(run.statusOf('undo-a')).toBe('Running');
    expect(run.send({ type: 'cancel', reason: 'again' })).toEqual([]);
    expect(run.signal('PAUSE')).toMatchObject([{ refused: expect.stringContaining('compensating') }]);
    run.send({ type: 'cancel', reason: 'now', terminate: true });
    expect(run.commands).toContainEqual({ type: 'abort', node: 3, attempt: 1 });
    expect(run.state).toMatchObject({ status: 'Cancelled', compensation: { status: 'Terminated' } });
  });

  it('a termination before the first compensation skips all of them, and the result says so', () => {
    const run = startRun(saga());
    run.succeed('a', { id: 1 });
    run.send({ type: 'cancel', reason: 'now', terminate: true });
    run.fail('b', { aborted: true, retryable: false });
    expect(run.state).toMatchObject({ status: 'Cancelled', compensation: { status: 'Terminated', nodes: [] } });
  });

  it('compensations stop when their timeout is over', () => {
    const run = failed({ compensationTimeoutMs: 100 });
    run.ring();
    expect(run.statuses()).toMatchObject({ 'undo-b': 'Cancelled', 'undo-a': 'Skipped' });
    expect(run.state).toMatchObject({ status: 'Failed', compensation: { status: 'TimedOut' } });
  });

  it('a compensation that cannot be rendered fails, and the next one runs', () => {
    const run = startRun(saga());
    run.succeed('a', { id: 1 });
    run.succeed('b', {});
    run.fail('c');
    expect(run.statusOf('undo-b')).toBe('Failed');
    expect(run.statusOf('undo-a')).toBe('Running');
  });

  it('a compensation is retried by its policy', () => {
    const plan = compiled(
      graph([
        node('a', { compensate: 'u', ...to('b') }),
        node('b', once),
        node('u', { policies: { retry: { maxAttempts: 2, jitter: false } } }),
      ]),
    );
    const run = startRun(plan);
    run.succeed('a');
    run.fail('b');
    run.fail('u');
    expect(run.statusOf('u')).toBe('Retrying');
    run.ring();
    run.succeed('u');
    expect(run.state.status).toBe('Failed');
  });

  it('a compensation may be a loop', () => {
    const u = node('u', { forEach: { items: '{{ context.data.a.ids }}' } });
    const run = startRun(compiled(graph([node('a', { compensate: 'u', ...to('b') }), node('b', once), u])));
    run.succeed('a', { ids: [1, 2] });
    run.fail('b');
    run.succeed('u[0]');
    run.succeed('u[1]');
    expect(run.state.compensation?.status).toBe('Succeeded');
  });

  it('I15: compensations go on after a checkpoint', () => {
    const run = failed();
    const again = fromCheckpoint(run.state.plan, run.state.start, JSON.parse(JSON.stringify(toCheckpoint(run.state))));
    expect(JSON.stringify(toCheckpoint(again))).toBe(JSON.stringify(toCheckpoint(run.state)));
    expect(again.unresolved).toBe(run.state.unresolved);
  });
});

describe('finally', () => {
  const plan = (fields: Fields = {}) =>
    compiled(graph([node('a', once), node('release', once)], { finally: ['release'], ...fields }));

  it('finally runs after a success, and its outputs are not outputs of the execution', () => {
    const run = startRun(plan());
    run.succeed('a', { x: 1 });
    expect(run.statusOf('release')).toBe('Running');
    run.succeed('release', { y: 2 });
    expect(run.state).toMatchObject({ status: 'Succeeded', outputs: { x: 1 } });
  });

  it('finally runs after a failure, and its own failure does not change the status', () => {
    const run = startRun(plan());
    run.fail('a');
    run.fail('release');
    expect(run.state).toMatchObject({ status: 'Failed', error: { nodeId: 'a' }, compensation: { status: 'Failed' } });
  });

  it('finally runs again after a failed execution is repaired', () => {
    const run = startRun(plan());
    run.fail('a');
    run.succeed('release');
    run.signal('RETRY_STEP', { stepId: 'a', force: true });
    run.succeed('a');
    expect(run.statusOf('release')).toBe('Running');
    run.succeed('release');
    expect(run.state.status).toBe('Succeeded');
    run.signal('RETRY_STEP', { stepId: 'release', force: true });
    expect(run.state.status).toBe('Succeeded');
  });

  it('a failed finally of a succeeded execution can be retried', () => {
    const run = startRun(plan());
    run.succeed('a', { x: 1 });
    run.fail('release');
    run.signal('RETRY_STEP', { stepId: 'release', force: true });
    run.succeed('release');
    expect(run.state).toMatchObject({ status: 'Succeeded', outputs: { x: 1 }, compensation: { status: 'Succeeded' } });
  });
});

describe('compensations in a definition', () => {
  it('a compensation must exist, have no edges, and be named only once', () => {
    const wrong = (nodes: Fields[], fields: Fields = {}) => codesOf(graph(nodes, fields));
    expect(wrong([node('a', { compensate: 'b' })])).toEqual(['UNKNOWN_NODE /nodes/0/compensate']);
    expect(wrong([node('a', { compensate: 'b', ...to('b') }), node('b')])).toEqual([
      'BAD_COMPENSATION /nodes/0/compensate',
    ]);
    expect(wrong([node('a', { compensate: 'a' })])).toEqual(['BAD_COMPENSATION /nodes/0/compensate']);
    expect(wrong([node('a', { compensate: 'u' }), node('u')], { finally: ['u'] })).toEqual([
      'BAD_COMPENSATION /finally/0',
    ]);
    expect(wrong([node('a', { compensate: 'u' }), node('u', { compensate: 'v' }), node('v')])).toEqual([
      'BAD_COMPENSATION /nodes/0/compensate',
    ]);
    expect(wrong([node('a', { compensate: 'e' }), { id: 'e', nodeType: 'end' }])).toEqual([
      'BAD_COMPENSATION /nodes/0/compensate',
    ]);
  });

  it('a compensation reads the node it undoes, and finally must allow for nodes that did not run', () => {
    const u = (text: string, fields: Fields = {}) =>
      codesOf(graph([node('a', { compensate: 'u' }), node('u', { parameters: { x: text } })], fields));
    expect(u('{{ context.data.a.id }}')).toEqual([]);
    const last = (text: string) =>
      codesOf(graph([node('a'), node('f', { parameters: { x: text } })], { finally: ['f'] }));
    expect(last('{{ context.data.a.id }}')).toEqual(['NOT_UPSTREAM /nodes/1/parameters/x']);
    expect(last('{{ context.data.a?.id ?? null }}')).toEqual([]);
  });

  it('a pipeline has `undo` on a task, and `finally`', () => {
    const definition = pipeline(
      {
        charge: call({ undo: { url: 'https://example.com/refund' } }),
        stop: { needs: ['charge'], end: { status: 'failed' } },
        release: call(),
      },
      { finally: ['release'] },
    );
    expect(nodeOf(definition, 'charge').compensate).toBe(3);
    expect(nodeOf(definition, 'undo charge')).toMatchObject({ aside: true, step: { actionType: 'http.step' } });
    const run = startRun(compiled(definition), { trigger: { body: {}, headers: {} } });
    run.succeed('charge', { status_code: 200, body: {}, headers: {} });
    expect(run.statuses()).toMatchObject({ 'undo charge': 'Running', release: 'Pending' });
    run.succeed('undo charge', { status_code: 200, body: {}, headers: {} });
    run.succeed('release', { status_code: 200, body: {}, headers: {} });
    expect(run.state).toMatchObject({ status: 'Failed', compensation: { status: 'Succeeded' } });
    expect(codesOf(pipeline({ a: call({ undo: { url: 'nowhere' } }) }))).toEqual(['BAD_URL /tasks/a/undo/url']);
  });
});

describe('interrupted and repeated compensation', () => {
  it('a termination keeps the compensations that finished, and cancels the running one', () => {
    const run = failed();
    run.succeed('undo-b');
    run.send({ type: 'cancel', reason: 'no more', terminate: true });
    expect(run.state.compensation).toEqual({
      status: 'Terminated',
      nodes: [
        { nodeId: 'undo-b', status: 'Succeeded' },
        { nodeId: 'undo-a', status: 'Cancelled' },
      ],
    });
  });

  it('a step that was run again is compensated once', () => {
    const run = startRun(saga());
    for (const id of ['a', 'b', 'c']) run.succeed(id, { id });
    expect(run.state.status).toBe('Succeeded');
    run.signal('RERUN_FROM', { stepId: 'b' });
    run.succeed('b', { id: 'again' });
    run.fail('c');
    expect(run.paramsOf('undo-b')).toEqual([{ id: 'again' }]);
    run.succeed('undo-b');
    run.succeed('undo-a');
    expect(run.state.compensation?.nodes.map(({ nodeId }) => nodeId)).toEqual(['undo-b', 'undo-a']);
  });

  it('finally runs once after a loop with a body, and not in the body', () => {
    const each = { id: 'a', forEach: { items: [1] }, body: { startNode: 'x', nodes: [node('x')] } };
    const run = startRun(compiled(graph([each, node('z')], { finally: ['z'] })));
    run.succeed('a[0].x');
    run.succeed('z');
    expect(run.state.status).toBe('Succeeded');
  });

  it('a cancelled item starts no further node while finally runs', () => {
    const nodes = [node('x', to('y')), node('y')];
    const each = { id: 'a', forEach: { items: [1] }, body: { startNode: 'x', nodes } };
    const run = startRun(compiled(graph([each, node('z')], { finally: ['z'] })));
    run.send({ type: 'cancel', reason: 'enough' });
    run.succeed('a[0].x');
    expect(run.statuses()).toMatchObject({ a: 'Cancelled', z: 'Running' });
    expect(run.has('NodeStarted', 'a[0].y')).toBe(false);
    run.succeed('z');
    expect(run.state).toMatchObject({ status: 'Cancelled', inFlight: 0 });
  });
});
