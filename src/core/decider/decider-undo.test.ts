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
  it('run in reverse order of completion, one after the other, and the status stays what it is', () => {
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

  it('are for nodes that succeeded, and for nobody else', () => {
    const run = startRun(saga());
    run.succeed('a', { id: 1 });
    run.fail('b');
    run.succeed('undo-a');
    expect(run.statusOf('undo-b')).toBe('Skipped');
    expect(run.reasonOf('undo-b')).toBe('nothing to undo');
    expect(run.state.status).toBe('Failed');
  });

  it('are not needed when all goes well', () => {
    const run = startRun(saga());
    run.succeed('a', { id: 1 });
    run.succeed('b', { id: 2 });
    run.succeed('c', { done: true });
    expect(run.state).toMatchObject({ status: 'Succeeded', outputs: { done: true }, compensation: null });
  });

  it('that fail are dead letters, and the others go on', () => {
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

  it('of a dead letter that is requeued are tried again', () => {
    const run = failed();
    run.fail('undo-b', { timedOut: true });
    run.succeed('undo-a');
    run.send({ type: 'reopened' });
    expect(run.statuses()).toMatchObject({ 'undo-b': 'Running', 'undo-a': 'Succeeded' });
    run.succeed('undo-b');
    expect(run.state.error).toMatchObject({ nodeId: 'c' });
  });

  it('follow a cancel; a second cancel does not skip them, and a termination does', () => {
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

  it('are skipped by a termination from the start, and it is told', () => {
    const run = startRun(saga());
    run.succeed('a', { id: 1 });
    run.send({ type: 'cancel', reason: 'now', terminate: true });
    run.fail('b', { aborted: true, retryable: false });
    expect(run.state).toMatchObject({ status: 'Cancelled', compensation: { status: 'Terminated', nodes: [] } });
  });

  it('may not take longer than they may', () => {
    const run = failed({ compensationTimeoutMs: 100 });
    run.ring();
    expect(run.statuses()).toMatchObject({ 'undo-b': 'Cancelled', 'undo-a': 'Skipped' });
    expect(run.state).toMatchObject({ status: 'Failed', compensation: { status: 'TimedOut' } });
  });

  it('that cannot be rendered fail, and the next one runs', () => {
    const run = startRun(saga());
    run.succeed('a', { id: 1 });
    run.succeed('b', {});
    run.fail('c');
    expect(run.statusOf('undo-b')).toBe('Failed');
    expect(run.statusOf('undo-a')).toBe('Running');
  });

  it('are tried again as their policy says', () => {
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

  it('may be loops', () => {
    const u = node('u', { forEach: { items: '{{ context.data.a.ids }}' } });
    const run = startRun(compiled(graph([node('a', { compensate: 'u', ...to('b') }), node('b', once), u])));
    run.succeed('a', { ids: [1, 2] });
    run.fail('b');
    run.succeed('u[0]');
    run.succeed('u[1]');
    expect(run.state.compensation?.status).toBe('Succeeded');
  });

  it('I15: go on after a checkpoint', () => {
    const run = failed();
    const again = fromCheckpoint(run.state.plan, run.state.start, JSON.parse(JSON.stringify(toCheckpoint(run.state))));
    expect(JSON.stringify(toCheckpoint(again))).toBe(JSON.stringify(toCheckpoint(run.state)));
    expect(again.unresolved).toBe(run.state.unresolved);
  });
});

describe('finally', () => {
  const plan = (fields: Fields = {}) =>
    compiled(graph([node('a', once), node('release', once)], { finally: ['release'], ...fields }));

  it('runs after a success, and its outputs are not those of the execution', () => {
    const run = startRun(plan());
    run.succeed('a', { x: 1 });
    expect(run.statusOf('release')).toBe('Running');
    run.succeed('release', { y: 2 });
    expect(run.state).toMatchObject({ status: 'Succeeded', outputs: { x: 1 } });
  });

  it('runs after a failure, and one that fails does not change the status', () => {
    const run = startRun(plan());
    run.fail('a');
    run.fail('release');
    expect(run.state).toMatchObject({ status: 'Failed', error: { nodeId: 'a' }, compensation: { status: 'Failed' } });
  });

  it('runs again after the execution was repaired', () => {
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

  it('of a succeeded execution that failed can be tried again', () => {
    const run = startRun(plan());
    run.succeed('a', { x: 1 });
    run.fail('release');
    run.signal('RETRY_STEP', { stepId: 'release', force: true });
    run.succeed('release');
    expect(run.state).toMatchObject({ status: 'Succeeded', outputs: { x: 1 }, compensation: { status: 'Succeeded' } });
  });
});

describe('of a definition', () => {
  it('a compensation is named once, exists, and has no edges', () => {
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

  it('a compensation reads what it undoes; `finally` allows for what did not run', () => {
    const u = (text: string, fields: Fields = {}) =>
      codesOf(graph([node('a', { compensate: 'u' }), node('u', { parameters: { x: text } })], fields));
    expect(u('{{ context.data.a.id }}')).toEqual([]);
    const last = (text: string) =>
      codesOf(graph([node('a'), node('f', { parameters: { x: text } })], { finally: ['f'] }));
    expect(last('{{ context.data.a.id }}')).toEqual(['NOT_UPSTREAM /nodes/1/parameters/x']);
    expect(last('{{ context.data.a?.id ?? null }}')).toEqual([]);
  });

  it('a pipeline has `undo` on a task and `finally`', () => {
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

describe('undo that is cut off or repeated', () => {
  it('by a termination keeps what was undone, and stops what runs', () => {
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

  it('undoes a step that was run again once', () => {
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

  it('has nothing to do with the bodies of loops, which have no end of their own', () => {
    const each = { id: 'a', forEach: { items: [1] }, body: { startNode: 'x', nodes: [node('x')] } };
    const run = startRun(compiled(graph([each, node('z')], { finally: ['z'] })));
    run.succeed('a[0].x');
    run.succeed('z');
    expect(run.state.status).toBe('Succeeded');
  });

  it('starts nothing of an item that the end cut off', () => {
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
