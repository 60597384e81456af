// The cases that every engine must end in the same way: every rule of admission, join, retry, timeout, skip, sleep, callback, signal,
// cancel, pause, reopen and child, in all three formats.

import { RetryableError, TerminalError } from '../../src/main.ts';
import { delay, echo, graph, held, plan, subworkflow, to, tries } from '../engine/workflow-definition.ts';
import {
  callBack,
  childStatus,
  edges,
  fail,
  flaky,
  type NamedCase,
  nodeStatus,
  signal,
  status,
  until,
} from './case-piece.ts';
import { TENANT } from './driver-pair.ts';
import { LANGUAGE_CASES } from './language-case.ts';

const graphs: NamedCase[] = [
  {
    name: 'a chain hands outputs on',
    definition: graph('c-chain', [echo('a', { n: 1 }, to('b')), echo('b', { n: '{{ context.data.a.n + 1 }}' })]),
  },
  {
    name: 'a diamond joins once',
    definition: graph('c-diamond', [
      echo('a', {}, to('b', 'c')),
      echo('b', { v: 1 }, to('d')),
      echo('c', { v: 2 }, to('d')),
      echo('d', { sum: '{{ context.data.b.v + context.data.c.v }}' }),
    ]),
  },
  {
    name: 'a condition that is false skips its branch, and one that throws warns',
    definition: graph('c-condition', [
      echo(
        'a',
        { n: 1 },
        edges(
          { targetNode: 'b', condition: 'context.data.a.n > 5' },
          { targetNode: 'c', condition: 'context.data.a.missing.deep > 5' },
          { targetNode: 'd', condition: 'context.data.a.n == 1' },
        ),
      ),
      echo('b'),
      echo('c'),
      echo('d'),
    ]),
  },
  {
    name: 'firstMatch takes one edge',
    definition: graph('c-first', [
      echo(
        'a',
        {},
        {
          routePolicy: 'firstMatch',
          ...edges({ targetNode: 'b', condition: 'false' }, { targetNode: 'c' }, { targetNode: 'd' }),
        },
      ),
      echo('b'),
      echo('c'),
      echo('d'),
    ]),
  },
  {
    name: 'a failure that onFailure handles lets the execution succeed',
    definition: graph('c-handled', [
      fail('a', { onFailure: 'rescue' }),
      echo('rescue', { code: '{{ context.data.a.error.code }}' }),
    ]),
  },
  {
    name: 'failure and always edges',
    definition: graph('c-always', [
      fail('a', edges({ targetNode: 'b', when: 'failure' }, { targetNode: 'c', when: 'always' }, { targetNode: 'd' })),
      echo('b'),
      echo('c'),
      echo('d'),
    ]),
  },
  { name: 'an unhandled failure fails the execution', definition: graph('c-failed', [fail('a', to('b')), echo('b')]) },
  { name: 'a retry succeeds', definition: graph('c-retry', [flaky('a', 2, tries(3))]) },
  { name: 'retries run out', definition: graph('c-retries-out', [flaky('a', 9, tries(3))]) },
  {
    name: 'a template that cannot be rendered fails its node',
    definition: graph('c-template', [echo('a', {}, to('b')), echo('b', { x: '{{ context.data.a.missing }}' })]),
  },
  {
    name: 'parameters that do not fit fail their node',
    definition: graph('c-params', [delay('a', '{{ trigger.ms }}')]),
    trigger: { ms: 'soon' },
  },
  {
    name: 'an attempt that takes too long times out, and is tried again',
    definition: graph('c-timeout', [held('a', tries(2, { timeoutMs: 300 }))]),
    async during({ work }) {
      await work.next('a');
      (await work.next('a')).succeed({ second: true });
    },
  },
  { name: 'a sleep', definition: graph('c-sleep', [delay('nap', 300, to('b')), echo('b')]) },
  {
    name: 'an execution times out',
    // Long enough for the slowest engine to begin the attempt.
    definition: graph('c-deadline', [held('a', to('b')), echo('b')], { timeoutMs: 5_000 }),
    async during({ work }) {
      const attempt = await work.next('a');
      attempt.context.signal.addEventListener('abort', () => attempt.fail(new Error('stopped')));
    },
  },
  {
    name: 'a cancel stops what runs',
    definition: graph('c-cancel', [held('a', to('b')), echo('b')]),
    async during(doing) {
      const attempt = await doing.work.next('a');
      attempt.context.signal.addEventListener('abort', () => attempt.fail(new Error('stopped')));
      await doing.pawl.executions.cancel(TENANT, doing.executionId, 'enough');
    },
  },
  {
    name: 'a pause lets what runs finish and starts nothing new',
    definition: graph('c-pause', [held('a', to('b')), echo('b')]),
    async during(doing) {
      const attempt = await doing.work.next('a');
      await signal(doing, 'PAUSE', { reason: 'lunch' });
      await until(() => status(doing), 'Paused');
      attempt.succeed({ n: 1 });
      await until(() => nodeStatus(doing, 'a'), 'Succeeded');
      await signal(doing, 'RESUME');
    },
  },
  {
    name: 'a failed execution is reopened by RETRY_STEP',
    definition: graph('c-reopen', [held('a', { ...tries(1), ...to('b') }), echo('b')]),
    async during(doing) {
      (await doing.work.next('a')).fail(new Error('first'));
      await until(() => status(doing), 'Failed');
      await signal(doing, 'RETRY_STEP', { stepId: 'a', force: true });
      (await doing.work.next('a')).succeed({ n: 2 });
      await until(() => status(doing), 'Succeeded');
    },
  },
  {
    name: 'parameters are updated and overridden for attempts to come',
    definition: graph('c-update', [held('a', to('b', 'c')), echo('b', { x: 1 }), echo('c', { x: 1 })]),
    async during(doing) {
      const attempt = await doing.work.next('a');
      await signal(doing, 'UPDATE_PARAMS', { stepId: 'b', newParams: { x: 2 } });
      await signal(doing, 'INJECT_OVERRIDE', { stepId: 'c', override: { x: 3 } });
      await until(async () => (await doing.pawl.store.inboxRead({ executionIds: [doing.executionId] })).length, 0);
      attempt.succeed();
    },
  },
  {
    name: 'a retryable error of an action asks for its own delay',
    definition: graph('c-retry-after', [held('a', tries(2))]),
    async during({ work }) {
      (await work.next('a')).fail(new RetryableError('BUSY', 'busy', { retryAfterMs: 50 } as never));
      (await work.next('a')).succeed();
    },
  },
];

const CHILD = graph('c-child', [echo('inner', { got: '{{ trigger.n }}' })]);
const FAILING_CHILD = graph('c-failing-child', [fail('inner')]);
const WAITING_CHILD = graph('c-waiting-child', [delay('nap', 60_000)]);

const children: NamedCase[] = [
  {
    name: 'a child runs and gives its outputs',
    also: [CHILD],
    definition: graph('c-parent', [
      subworkflow('sub', 'c-child', { parameters: { n: 7 }, ...to('after') }),
      echo('after', { got: '{{ context.data.sub.outputs.got }}' }),
    ]),
  },
  {
    name: 'a child that fails fails its node',
    also: [FAILING_CHILD],
    definition: graph('c-failing-parent', [
      subworkflow('sub', 'c-failing-child', { onFailure: 'rescue' }),
      echo('rescue'),
    ]),
  },
  {
    name: 'a child that nobody waits for',
    also: [CHILD],
    definition: graph('c-forgetful', [
      subworkflow('sub', 'c-child', { waitForCompletion: false, parameters: { n: 1 } }),
    ]),
    async during(doing) {
      await until(() => childStatus(doing), 'Succeeded');
    },
  },
  {
    name: 'a child that does not exist',
    definition: graph('c-orphan', [subworkflow('sub', 'c-nowhere', { onFailure: 'x' }), echo('x')]),
  },
  {
    name: 'a cancel reaches the child',
    also: [WAITING_CHILD],
    definition: graph('c-cancelled-parent', [subworkflow('sub', 'c-waiting-child')]),
    async during(doing) {
      await until(() => childStatus(doing), 'Running');
      await doing.pawl.executions.cancel(TENANT, doing.executionId);
      await until(() => childStatus(doing), 'Cancelled');
    },
  },
];

const pipelines: NamedCase[] = [
  {
    name: 'a pipeline sleeps, skips and goes on',
    definition: {
      name: 'c-pipeline',
      tasks: {
        nap: { sleep: 1 },
        no: { needs: ['nap'], if: 'tasks.nap.status == "failed"', sleep: 1 },
        after: { needs: ['no'], sleep: 1 },
      },
    },
  },
  {
    name: 'a webhook is waited for',
    definition: { name: 'c-webhook', tasks: { hook: { wait_for_webhook: { timeout: '1h' } } } },
    async during(doing) {
      await until(() => nodeStatus(doing, 'hook'), 'Waiting');
      await callBack(doing, 'hook', { paid: true });
    },
  },
  {
    name: 'a webhook that comes early is kept, and one that comes twice counts once',
    definition: { name: 'c-early', tasks: { nap: { sleep: 1 }, hook: { needs: ['nap'], wait_for_webhook: {} } } },
    async during(doing) {
      await until(() => nodeStatus(doing, 'nap'), 'Sleeping');
      await callBack(doing, 'hook', { first: true });
      await callBack(doing, 'hook', { first: false });
    },
  },
  {
    name: 'a webhook that never comes times out',
    definition: { name: 'c-late', tasks: { hook: { wait_for_webhook: { timeout: 1 } } } },
  },
];

const plans: NamedCase[] = [
  {
    name: 'an execution plan runs its steps in order',
    definition: plan('c-plan', { a: [], b: ['a'], c: ['a'], d: ['b', 'c'] }),
    async during({ work }) {
      (await work.next('a')).succeed({ n: 1 });
      const [b, c] = [await work.next('b'), await work.next('c')];
      b.succeed();
      c.succeed();
      (await work.next('d')).succeed();
    },
  },
  {
    name: 'a failing step of a plan lets what runs finish, and nothing new starts',
    definition: plan('c-drain', { a: [], b: [], c: ['b'] }),
    async during(doing) {
      const [a, b] = [await doing.work.next('a'), await doing.work.next('b')];
      a.fail(new TerminalError('NO', 'no'));
      await until(() => nodeStatus(doing, 'a'), 'Failed');
      b.succeed();
    },
  },
];

export const NAMED_CASES: readonly NamedCase[] = [...graphs, ...children, ...pipelines, ...plans, ...LANGUAGE_CASES];
