// Definitions by chance whose end does not depend on which of two parallel steps is quicker: what fails is handled (graphs), goes on
// (pipelines), or stands alone in a chain (plans). Everything else about them is chance.

import type { Json, JsonObject } from '../../src/core/json/json.ts';
import type { Random } from '../chaos/random.ts';

const TWICE = { maxAttempts: 2, baseDelayMs: 1, backoffFactor: 1, jitter: false };
const FAILING: JsonObject = { actionType: 'core.fail', parameters: { code: 'NO', message: 'told to' } };
const RETRY = { baseDelayMs: 1, backoffFactor: 1, jitter: false };

export function randomDefinition(random: Random, name: string): JsonObject {
  const format = random.weighted({ graph: 5, saga: 2, pipeline: 2, plan: 3 });
  if (format === 'graph') return randomGraph(random, name);
  if (format === 'saga') return randomSaga(random, name);
  return format === 'pipeline' ? randomPipeline(random, name) : randomPlan(random, name);
}

/** What random graphs start as a subworkflow: published before them. It fails where the trigger says so. */
export const RANDOM_CHILD: JsonObject = {
  id: 'random-child',
  displayName: 'random-child',
  startNode: 'a',
  nodes: [
    {
      id: 'a',
      actionType: 'core.echo',
      parameters: { n: '{{ trigger.n }}' },
      edges: [{ targetNode: 'b' }],
    },
    {
      id: 'b',
      actionType: 'core.delay',
      parameters: { durationMs: 5 },
      edges: [{ targetNode: 'c', condition: 'trigger.fails' }],
    },
    { id: 'c', actionType: 'core.fail', parameters: { code: 'CHILD', message: 'told to' } },
  ],
};

/** A chain whose nodes are undone when one of them fails, one after the other; what is undone may fail too. */
function randomSaga(random: Random, name: string): JsonObject {
  const size = random.whole(1, 6);
  const nodes = Array.from({ length: size }, (_, index): JsonObject[] => {
    const isLast = index === size - 1;
    const step = isLast ? randomLast(random, index) : randomStep(random, index, true);
    const undo = random.chance(0.7) && step.nodeType !== 'end' ? { compensate: `undo${index}` } : {};
    const edges = isLast ? [] : [{ targetNode: `n${index + 1}` }];
    const undoing = random.chance(0.2)
      ? { ...FAILING, policies: { retry: TWICE } }
      : { actionType: 'core.echo', parameters: { of: index } };
    return [
      { id: `n${index}`, ...step, ...undo, edges },
      ...('compensate' in undo ? [{ id: undo.compensate!, ...undoing }] : []),
    ];
  });
  const last = { id: 'last', actionType: 'core.echo', parameters: { last: true } };
  const isTidy = random.chance(0.5);
  return {
    id: `random-${name}`,
    displayName: name,
    startNode: 'n0',
    nodes: [...nodes.flat(), ...(isTidy ? [last] : [])],
    ...(isTidy ? { finally: ['last'] } : {}),
  };
}

/** Fails, ends the execution early, or is a step like any other. */
function randomLast(random: Random, index: number): JsonObject {
  switch (random.weighted({ fails: 5, endsFailed: 1, endsWell: 1, step: 3 })) {
    case 'fails':
      return { ...FAILING };
    case 'endsFailed':
      return { nodeType: 'end', status: 'Failed', error: { code: 'ENDED', message: `by n${index}` } };
    case 'endsWell':
      return { nodeType: 'end', status: 'Succeeded', outputs: { at: index } };
    case 'step':
      return randomStep(random, index, true);
  }
}

/** Every node but the first has an edge from one before it; what may fail has somewhere to go. */
function randomGraph(random: Random, name: string): JsonObject {
  const size = random.whole(1, 12);
  const incoming = [0];
  const outgoing: Json[][] = Array.from({ length: size }, () => []);
  for (let index = 1; index < size; index++) {
    const parents = new Set(Array.from({ length: random.whole(1, 3) }, () => random.whole(0, index - 1)));
    incoming.push(parents.size);
    for (const parent of parents) outgoing[parent]!.push(randomEdge(random, index, parent));
  }
  const nodes = outgoing.map((edges, index): JsonObject => {
    const isLast = index === size - 1;
    const step = randomStep(random, index, !isLast);
    return {
      id: `n${index}`,
      ...step,
      ...(random.chance(0.2) ? { routePolicy: 'firstMatch' } : {}),
      ...(random.chance(0.25) ? randomJoin(random, incoming[index]!) : {}),
      edges: [...edges, { targetNode: 'end', when: isLast ? 'success' : 'failure' }],
    };
  });
  return {
    id: `random-${name}`,
    displayName: name,
    startNode: 'n0',
    nodes: [
      ...nodes,
      { id: 'end', actionType: 'core.echo', parameters: { end: true } },
      { id: 'last', actionType: 'core.echo', parameters: { last: true } },
    ],
    finally: ['last'],
  };
}

function randomJoin(random: Random, incoming: number): JsonObject {
  if (incoming === 0) return {};
  return { join: random.chance(0.5) ? 'all' : { first: random.whole(1, incoming) } };
}

function randomEdge(random: Random, to: number, from: number): JsonObject {
  const when = random.weighted({ success: 6, always: 2, failure: 1 });
  const condition = random.weighted({ none: 6, yes: 1, no: 1, read: when === 'success' ? 2 : 0, throws: 1 });
  const text = {
    none: null,
    yes: 'true',
    no: 'false',
    read: `(context.data.n${from}?.v ?? 0) > 2`,
    throws: 'trigger.no.such.thing > 1',
  }[condition];
  // `NO` is what random steps fail with.
  const codes = when === 'failure' && random.chance(0.5) ? { codes: [random.pick(['NO', 'ACTION_FAILED'])] } : {};
  return { targetNode: `n${to}`, when, ...codes, ...(text === null ? {} : { condition: text }) };
}

function randomStep(random: Random, index: number, mayFail: boolean): JsonObject {
  const kind = random.weighted({
    echo: 6,
    flaky: 2,
    sleep: 1,
    fail: mayFail ? 2 : 0,
    each: 1,
    repeat: 1,
    wait: 1,
    child: 1,
  });
  switch (kind) {
    case 'echo':
      return { actionType: 'core.echo', parameters: { v: random.whole(0, 5), trigger: '{{ trigger.x ?? null }}' } };
    case 'flaky': {
      const failTimes = random.whole(1, 3);
      const maxAttempts = mayFail ? random.whole(1, 4) : failTimes + 1;
      return {
        actionType: 'core.sometimes-fails',
        parameters: { failTimes, v: index },
        policies: { retry: { maxAttempts, ...RETRY } },
      };
    }
    case 'sleep':
      return { actionType: 'core.delay', parameters: { durationMs: random.whole(1, 80) } };
    case 'fail': {
      const byCode = [
        { on: ['ELSE'], maxAttempts: 3, ...RETRY },
        { on: ['*'], maxAttempts: 2, ...RETRY },
      ];
      const policies = random.chance(0.5) ? { policies: { retry: byCode } } : {};
      const parameters = { code: 'NO', message: `n${index}`, retryable: random.chance(0.5) };
      return { actionType: 'core.fail', parameters, ...policies };
    }
    case 'wait': {
      const onTimeout = mayFail ? random.pick(['continue', 'fail']) : 'continue';
      return { nodeType: 'wait', callback: true, timeoutMs: random.whole(1, 80), onTimeout };
    }
    case 'child': {
      const parameters = { n: index, fails: mayFail && random.chance(0.3) };
      const forEach = { items: [1, 2], parallel: random.whole(1, 2) };
      const isLoop = !parameters.fails && random.chance(0.3);
      return { nodeType: 'subworkflow', workflowId: 'random-child', parameters, ...(isLoop ? { forEach } : {}) };
    }
    case 'each': {
      const items = Array.from({ length: random.whole(0, 5) }, (_, item) => item);
      const forEach = { items, parallel: random.whole(1, 3) };
      if (random.chance(0.5)) return { actionType: 'core.echo', parameters: { v: '{{ item * 2 }}' }, forEach };
      const body = randomBody(random, mayFail);
      // Of two items that fail side by side either may be the first.
      const isFailing = JSON.stringify(body).includes('core.fail');
      const tolerate = random.chance(0.7) ? { tolerate: random.pick([1, 10, '50%']) } : {};
      return { forEach: isFailing ? { items, parallel: 1, ...tolerate } : forEach, body };
    }
    case 'repeat': {
      // Out of rounds it fails.
      const maxRounds = mayFail ? random.whole(2, 5) : 5;
      const collect = random.chance(0.5) ? { collect: '{{ [output.v, previous?.v ?? null] }}' } : {};
      const until = `output.v >= ${random.whole(0, 3)}`;
      const repeat = { until, delayMs: random.whole(0, 20), maxRounds, ...collect };
      const echo = { actionType: 'core.echo', parameters: { v: '{{ round }}' } };
      if (random.chance(0.6)) return { ...echo, repeat };
      return { repeat, body: { startNode: 'a', nodes: [{ id: 'a', ...echo }] } };
    }
  }
}

/** What an item goes through: of two nodes side by side either may be the first, and one that fails does so alone. */
function randomBody(random: Random, mayFail: boolean): JsonObject {
  const shape = random.weighted({ chain: 2, diamond: 1, flaky: 1, fail: mayFail ? 3 : 0 });
  const echo = (id: string, ...next: string[]): JsonObject => ({
    id,
    actionType: 'core.echo',
    parameters: { v: '{{ item + 1 }}' },
    edges: next.map((targetNode) => ({ targetNode })),
  });
  const last: JsonObject =
    shape === 'fail'
      ? { id: 'd', actionType: 'core.fail', parameters: { code: 'NO' } }
      : { id: 'd', actionType: 'core.echo', parameters: { v: '{{ context.data.a.v }}' } };
  const flaky = { actionType: 'core.sometimes-fails', parameters: { failTimes: 1 }, policies: { retry: TWICE } };
  const middle =
    shape === 'diamond'
      ? [echo('a', 'b', 'c'), echo('b', 'd'), echo('c', 'd')]
      : [shape === 'flaky' ? { ...echo('a', 'd'), ...flaky } : echo('a', 'd')];
  if (shape === 'flaky') return { startNode: 'a', nodes: [...middle, echo('d')] };
  return { startNode: 'a', nodes: [...middle, last] };
}

function randomPipeline(random: Random, name: string): JsonObject {
  const size = random.whole(1, 6);
  const names = Array.from({ length: size }, (_, index) => `t${index}`);
  const tasks = names.map((task, index): [string, JsonObject] => {
    const needs = names.slice(0, index).filter(() => random.chance(0.4));
    const read = needs[0];
    const condition =
      read !== undefined && random.chance(0.4)
        ? { if: `tasks.${read}.status == '${random.pick(['success', 'skipped', 'timeout'])}'` }
        : {};
    const isRace = needs.length > 1 && !('if' in condition) && random.chance(0.3);
    const given = isRace ? { first: random.whole(1, needs.length), of: needs } : needs;
    return [task, { ...(needs.length > 0 ? { needs: given } : {}), ...condition, ...randomTask(random) }];
  });
  const isTidy = random.chance(0.3);
  if (isTidy) tasks.push(['last', { url: `${URL}/ok`, retries: 0 }]);
  return { name: `random-${name}`, tasks: Object.fromEntries(tasks), ...(isTidy ? { finally: ['last'] } : {}) };
}

const URL = '{{trigger.body.url}}';

function randomTask(random: Random): JsonObject {
  switch (random.weighted({ request: 5, retried: 1, each: 1, until: 1, sleep: 1, hook: 1, wait: 1 })) {
    case 'request':
      return { url: `${URL}/${random.pick(['ok', '404', '500'])}`, body: { v: random.whole(0, 9) }, retries: 0 };
    case 'retried':
      return { url: `${URL}/500`, retries: { times: 1, on: [random.pick([500, 503])], delay: '1s' } };
    case 'wait':
      return { wait_for: { webhook: true, timeout: 1, on_timeout: random.pick(['fail', 'continue']) } };
    case 'each':
      return { url: `${URL}/item`, body: { n: '{{item}}' }, for_each: [1, 2, 3], parallel: random.whole(1, 3) };
    case 'until':
      return { url: `${URL}/poll`, body: { n: '{{round}}' }, until: `round >= ${random.whole(0, 2)}` };
    case 'sleep':
      return { sleep: 1 };
    case 'hook':
      return { wait_for_webhook: { timeout: 1 } };
  }
}

function randomPlan(random: Random, name: string): JsonObject {
  const size = random.whole(1, 10);
  const isChain = random.chance(0.4);
  const steps = Array.from({ length: size }, (_, index): JsonObject => {
    const before = Array.from({ length: index }, (_none, i) => i);
    const dependsOn = isChain ? before.slice(-1) : before.filter(() => random.chance(0.35));
    const fails = isChain && random.chance(0.1);
    return {
      stepId: `s${index}`,
      type: fails ? 'core.fail' : 'core.echo',
      inputs: fails ? { code: 'NO' } : { v: random.whole(0, 9) },
      timeout: '1m',
      dependsOn: dependsOn.map((i) => `s${i}`),
    };
  });
  return {
    metadata: {
      planId: `random-${name}`,
      planVersion: '1',
      createdAt: '2026-02-22T10:00:00Z',
      createdBy: 'test',
      schemaVersion: 'v1',
    },
    scope: { tenantId: 'default', projectId: 'default', environmentId: 'default', repoSha: 's' },
    steps,
  };
}
