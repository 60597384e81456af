import { expect, test } from 'vitest';
import { call, compiled, pipeline } from '../definition/definition.testing.ts';
import { startRun } from './test-run.testing.ts';

test('default outputs of a pipeline are those of its last steps, without the status that conditions read', () => {
  const run = startRun({
    format: 'pipeline',
    nodes: [
      { id: 'call', retain: true },
      { id: 'answer', retain: true, step: { kind: 'webhook', timeoutMs: null } },
    ],
  });
  run.send({ type: 'webhookReceived', nodeId: 'answer', payload: { paid: true } });
  run.succeed('call', { status_code: 200, body: 'ok', headers: {} });
  expect(run.state.outputs).toEqual({ status_code: 200, body: 'ok', headers: {}, paid: true });
});

test('outputs that are not an object appear under the name of their node', () => {
  const run = startRun({ format: 'plan', nodes: [{ id: 'count', retain: true }] });
  run.succeed('count', 7);
  expect(run.state.outputs).toEqual({ count: 7 });
});

test('a key of an output cannot reach a prototype', () => {
  const run = startRun({ format: 'graph', nodes: [{ id: 'a', retain: true }] });
  run.succeed('a', JSON.parse('{"__proto__": {"polluted": true}}'));
  expect(Object.keys(run.state.outputs as object)).toEqual(['__proto__']);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test.each([false, true])(
  'a truncated callback is marked as truncated in expressions, even if it came early: %s',
  (isEarly) => {
    const run = startRun({
      format: 'pipeline',
      nodes: [
        { id: 'call', retain: true },
        { id: 'answer', retain: true, step: { kind: 'webhook', timeoutMs: null }, needs: isEarly ? ['call'] : [] },
      ],
    });
    run.send({ type: 'webhookReceived', nodeId: 'answer', payload: '{"paid":', truncated: true });
    run.succeed('call', {});
    expect(run.state.data.answer).toMatchObject({ status: 'received', body: '{"paid":', is_truncated: true });
  },
);

test.each([
  [{}, { body: null }],
  ['done', { body: null }],
  [
    { by: 'hand', data: 1 },
    { by: 'hand', body: 1 },
  ],
])('a wait of a pipeline completed by hand with %j can be read', (outputs, entry) => {
  const plan = compiled(
    pipeline({ w: { wait_for: { webhook: true } }, after: call({ needs: ['w'], body: '{{ tasks.w }}' }) }),
  );
  const run = startRun(plan);
  run.signal('COMPLETE_STEP', { stepId: 'w', outputs });
  expect(run.state.data.w).toMatchObject({ status: 'received', ...entry });
});

test('a pipeline that ends early returns the outputs of its end and nothing else', () => {
  const run = startRun(
    compiled(pipeline({ a: call(), e: { needs: ['a'], end: { outputs: { code: '{{ tasks.a.status_code }}' } } } })),
  );
  run.succeed('a', { status_code: 200, body: 'ok', headers: {} });
  expect(run.state).toMatchObject({ status: 'Succeeded', outputs: { code: 200 } });
  expect(Object.keys(run.state.outputs as object)).toEqual(['code']);
});

test('a task that lost a race can be read and has the status cancelled', () => {
  const race = { needs: { first: 1, of: ['a', 'b'], cancel_rest: true } };
  const tasks = { a: call(), b: call(), won: call(race) };
  const run = startRun(
    compiled({ ...pipeline(tasks), outputs: { a: '{{ tasks.a.status }}', b: '{{ tasks.b.status }}' } }),
  );
  run.succeed('b', { status_code: 200, body: null, headers: {} });
  run.succeed('won', {});
  expect(run.state).toMatchObject({ status: 'Succeeded', outputs: { a: 'cancelled', b: 'success' } });
});

test('the error for a pipeline loop with too many items names the pipeline field', () => {
  const run = startRun(compiled(pipeline({ a: call({ for_each: '{{ [1, 2] }}', max_items: 1 }) })));
  expect(run.find('NodeFailed', 'a').error.message).toBe('there are 2 items; at most 1 are allowed (max_items)');
});
