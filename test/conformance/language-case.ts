// The rest of the language on every engine: loops, joins, ends, undo and finally, waits for events, requests of pipelines.

import { TerminalError } from '../../src/main.ts';
import { delay, echo, graph, held, subworkflow, to, tries } from '../engine/workflow-definition.ts';
import { callBack, edges, fail, flaky, type NamedCase, nodeStatus, signal, status, tell, until } from './case-piece.ts';
import { type Doing, TENANT } from './driver-pair.ts';

const stopped = (attempt: Awaited<ReturnType<Doing['work']['next']>>): void =>
  attempt.context.signal.addEventListener('abort', () => attempt.fail(new Error('stopped')));

const loops: NamedCase[] = [
  {
    name: 'a forEach runs its items and gives their results in order',
    definition: graph('c-each', [
      echo('e', { twice: '{{ item * 2 }}' }, { forEach: { items: [1, 2, 3, 4, 5], parallel: 2 }, ...to('sum') }),
      echo('sum', { total: '{{ context.data.e.results.reduce((sum, one) => sum + one.twice, 0) }}' }),
    ]),
  },
  {
    name: 'a forEach without items succeeds at once',
    definition: graph('c-each-none', [echo('e', {}, { forEach: { items: [] }, ...to('b') }), echo('b')]),
  },
  {
    name: 'a body of several nodes runs for each item',
    definition: graph('c-each-body', [
      {
        id: 'each',
        forEach: { items: [1, 2, 3], parallel: 3 },
        body: {
          startNode: 'first',
          nodes: [
            echo('first', { n: '{{ item }}' }, to('nap', 'side')),
            delay('nap', 20, to('second')),
            echo('side', { n: '{{ index }}' }, to('second')),
            echo('second', { n: '{{ context.data.first.n + context.data.side.n }}' }),
          ],
        },
      },
    ]),
  },
  {
    name: 'a child runs for each item',
    also: [graph('c-item-child', [echo('calc', { twice: '{{ trigger.n * 2 }}' })])],
    definition: graph('c-each-child', [
      subworkflow('sub', 'c-item-child', { parameters: { n: '{{ item }}' }, forEach: { items: [1, 2, 3] } }),
    ]),
  },
  {
    name: 'items that fail are tolerated, retried, and told of',
    definition: graph('c-each-tolerate', [
      {
        id: 'each',
        forEach: { items: [0, 1, 2], parallel: 1, tolerate: 1 },
        body: {
          startNode: 'try',
          nodes: [
            flaky('try', 1, { ...tries(2), ...edges({ targetNode: 'odd', condition: 'item == 1' }) }),
            fail('odd', tries(1)),
          ],
        },
      },
    ]),
  },
  {
    name: 'an item that fails fails its loop, and what runs of it is stopped',
    definition: graph('c-each-failed', [
      held('e', { parameters: { n: '{{ item }}' }, ...tries(1), forEach: { items: [0, 1, 2], parallel: 2 } }),
    ]),
    async during({ work }) {
      const [one, other] = [await work.next('e[0]'), await work.next('e[1]')];
      stopped(other);
      one.fail(new TerminalError('NO', 'no'));
    },
  },
  {
    name: 'RETRY_STEP of a loop runs only the items that are left',
    definition: graph('c-each-again', [
      held('e', { parameters: { n: '{{ item }}' }, ...tries(1), forEach: { items: [0, 1], parallel: 1 } }),
    ]),
    async during(doing) {
      (await doing.work.next('e[0]')).succeed({ n: 0 });
      (await doing.work.next('e[1]')).fail(new TerminalError('NO', 'no'));
      await until(() => status(doing), 'Failed');
      await signal(doing, 'RETRY_STEP', { stepId: 'e', force: true });
      (await doing.work.next('e[1]')).succeed({ n: 1 });
      await until(() => status(doing), 'Succeeded');
    },
  },
  {
    name: 'a cancel stops the items of a loop',
    definition: graph('c-each-cancel', [held('e', { forEach: { items: [0, 1, 2], parallel: 2 } })]),
    async during(doing) {
      for (const attempt of [await doing.work.next('e[0]'), await doing.work.next('e[1]')]) stopped(attempt);
      await doing.pawl.executions.cancel(TENANT, doing.executionId, 'enough');
    },
  },
  {
    name: 'a repeat goes on until its condition holds, and collects',
    definition: graph('c-repeat', [
      echo(
        'poll',
        { round: '{{ round }}' },
        { repeat: { until: 'output.round >= 3', delayMs: 5, collect: '{{ [output.round] }}' } },
      ),
    ]),
  },
  {
    name: 'a repeat whose condition never holds fails',
    definition: graph('c-repeat-out', [
      echo('poll', {}, { repeat: { until: 'false', maxRounds: 3 }, onFailure: 'rescue' }),
      echo('rescue', { code: '{{ context.data.poll.error.code }}' }),
    ]),
  },
];

const joins: NamedCase[] = [
  {
    name: 'a join of all skips its node when one edge is not satisfied',
    definition: graph('c-join-all', [
      echo('a', {}, edges({ targetNode: 'b' }, { targetNode: 'c', condition: 'false' })),
      echo('b', {}, to('d')),
      echo('c', {}, to('d')),
      echo('d', {}, { join: 'all' }),
    ]),
  },
  {
    name: 'a join of the first starts without the others, and stops them',
    definition: graph('c-join-first', [
      echo('a', {}, to('b', 'c', 'w')),
      held('b', to('d')),
      held('c', to('d')),
      delay('w', 600_000, to('d')),
      echo('d', { v: '{{ context.data.b.v }}' }, { join: { first: 1, cancelRest: true } }),
    ]),
    async during({ work }) {
      const [b, c] = [await work.next('b'), await work.next('c')];
      stopped(c);
      b.succeed({ v: 1 });
    },
  },
  {
    name: 'a join of the first lets the others go on',
    definition: graph('c-join-first-kept', [
      echo('a', {}, to('b', 'c')),
      held('b', to('d')),
      held('c', to('d')),
      held('d', { join: { first: 1 } }),
    ]),
    async during(doing) {
      const [b, c] = [await doing.work.next('b'), await doing.work.next('c')];
      b.succeed({});
      const d = await doing.work.next('d');
      c.succeed({});
      await until(() => nodeStatus(doing, 'c'), 'Succeeded');
      d.succeed({});
    },
  },
  {
    name: 'an end node ends the execution while others still run',
    definition: graph('c-end', [
      echo('a', {}, to('long', 'held')),
      delay('long', 600_000),
      held('held', to('stop')),
      { id: 'stop', nodeType: 'end', outputs: { why: 'enough' } },
    ]),
    async during({ work }) {
      (await work.next('held')).succeed({});
    },
  },
  {
    name: 'an end node that fails gives the execution its error',
    definition: graph('c-end-failed', [
      echo('a', {}, to('stop')),
      { id: 'stop', nodeType: 'end', status: 'Failed', error: { code: 'OUT_OF_STOCK', message: 'none left' } },
    ]),
  },
];

const undo: NamedCase[] = [
  {
    name: 'what succeeded is undone in reverse order when the execution fails, and finally runs',
    definition: graph(
      'c-undo',
      [
        echo('one', {}, { compensate: 'undo-one', ...to('two') }),
        echo('two', {}, { compensate: 'undo-two', ...to('three') }),
        fail('three', tries(1)),
        echo('undo-one', { of: 1 }),
        echo('undo-two', { of: 2 }),
        echo('unlock'),
      ],
      { finally: ['unlock'] },
    ),
  },
  {
    name: 'a compensation that fails leaves a dead letter, and the others run',
    definition: graph('c-undo-failed', [
      echo('one', {}, { compensate: 'undo-one', ...to('two') }),
      echo('two', {}, { compensate: 'undo-two', ...to('three') }),
      fail('three', tries(1)),
      echo('undo-one', { of: 1 }),
      fail('undo-two', tries(2)),
    ]),
  },
  {
    name: 'a cancel undoes what succeeded',
    definition: graph('c-undo-cancel', [
      echo('one', {}, { compensate: 'undo-one', ...to('two') }),
      held('two'),
      echo('undo-one', { of: 1 }),
    ]),
    async during(doing) {
      stopped(await doing.work.next('two'));
      await doing.pawl.executions.cancel(TENANT, doing.executionId, 'enough');
    },
  },
  {
    name: 'finally runs after a success, and nothing is undone',
    definition: graph(
      'c-finally',
      [echo('one', {}, { compensate: 'undo-one' }), echo('undo-one'), echo('unlock', { after: true })],
      { finally: ['unlock'] },
    ),
  },
];

const waits: NamedCase[] = [
  {
    name: 'a wait ends by its callback',
    definition: graph('c-wait', [
      { id: 'w', nodeType: 'wait', callback: true, ...to('b') },
      echo('b', { by: '{{ context.data.w.by }}' }),
    ]),
    async during(doing) {
      await until(() => nodeStatus(doing, 'w'), 'Waiting');
      await callBack(doing, 'w', { paid: true });
    },
  },
  {
    name: 'an event counts from the start of the execution, and the same event once',
    definition: graph('c-event', [
      held('before', to('w')),
      {
        id: 'w',
        nodeType: 'wait',
        count: 2,
        events: [{ type: 'order.approved', key: '{{ execution.id }}', at: 'order' }],
      },
    ]),
    async during(doing) {
      const before = await doing.work.next('before');
      const told = { order: doing.executionId };
      // The row that events find is written before the start is durable: the attempt shows that it is there.
      await tell(doing, 'e1', 'order.approved', told);
      await tell(doing, 'e1', 'order.approved', told);
      await until(async () => (await doing.pawl.store.inboxRead({ executionIds: [doing.executionId] })).length, 0);
      before.succeed({});
      await until(() => nodeStatus(doing, 'w'), 'Waiting');
      await tell(doing, 'e2', 'order.approved', told);
    },
  },
  {
    name: 'a wait that nothing ends goes on when its time is over',
    definition: graph('c-wait-late', [
      { id: 'w', nodeType: 'wait', callback: true, timeoutMs: 100, onTimeout: 'continue', ...to('b') },
      echo('b', { by: '{{ context.data.w.by }}' }),
    ]),
  },
  {
    name: 'a step is completed by hand, and an execution is run again from a step',
    definition: graph('c-by-hand', [
      held('a', { ...tries(1), ...to('b') }),
      echo('b', { n: '{{ context.data.a.n }}' }),
    ]),
    async during(doing) {
      (await doing.work.next('a')).fail(new TerminalError('NO', 'no'));
      await until(() => status(doing), 'Failed');
      await signal(doing, 'COMPLETE_STEP', { stepId: 'a', outputs: { n: 5 }, force: true });
      await until(() => status(doing), 'Succeeded');
    },
  },
];

const requests: NamedCase[] = [
  {
    name: 'a pipeline sends requests, also for each item, and goes on after one that fails',
    definition: {
      name: 'c-requests',
      tasks: {
        one: { url: '{{trigger.body.url}}/ok', body: { n: 1 } },
        bad: { url: '{{trigger.body.url}}/404', retries: 0 },
        each: {
          needs: ['one'],
          url: '{{trigger.body.url}}/item',
          body: { got: '{{item}}' },
          for_each: [1, 2, 3],
          parallel: 2,
        },
        after: { needs: ['bad'], if: "tasks.bad.status == 'failed'", url: '{{trigger.body.url}}/after' },
        never: { needs: ['bad'], url: '{{trigger.body.url}}/never' },
      },
    },
  },
  {
    name: 'a pipeline waits for an event or a webhook, and ends early',
    definition: {
      name: 'c-pipeline-end',
      tasks: {
        hook: { wait_for: { webhook: true, timeout: '1h' } },
        stop: { needs: ['hook'], end: { outputs: { done: true } } },
        long: { sleep: '1h' },
      },
    },
    async during(doing) {
      await until(() => nodeStatus(doing, 'hook'), 'Waiting');
      await callBack(doing, 'hook', { ok: true });
    },
  },
];

export const LANGUAGE_CASES: readonly NamedCase[] = [...loops, ...joins, ...undo, ...waits, ...requests];
