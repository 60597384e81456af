// Workflows that use what the language has beyond nodes and edges: loops, undo, waits for events, joins of the first branches,
// early ends. Each is written as a person would write it, with a script of the outcomes of its attempts and with what must become
// of it.

import type { JsonObject } from '../../src/core/json/json.ts';
import type { Random } from './random.ts';
import type { AttemptOutcome, WorkflowSpec } from './workflow.ts';

type NodeEnd = 'Succeeded' | 'Failed' | 'TimedOut' | 'Skipped';

/** An event that somebody posts for the execution. */
export interface PostedEvent {
  readonly id: string;
  readonly type: string;
  /** After the start was acknowledged; 0: at once. */
  readonly afterMs: number;
  readonly isSentTwice: boolean;
  /**
   * Nobody knows when the wait begins, so the event is posted again and again, each time as another event, until the
   * execution has ended.
   */
  readonly isRepeated: boolean;
}

export interface Language {
  readonly definition: JsonObject;
  /** The outcomes of a node's attempts, and what they return besides: by node, and for items and rounds by their own names. */
  readonly outcomes: ReadonlyMap<string, readonly AttemptOutcome[]>;
  readonly outputs: ReadonlyMap<string, JsonObject>;
  readonly events: readonly PostedEvent[];
  readonly status: 'Succeeded' | 'Failed';
  /** Nodes whose end is certain when nobody interferes. */
  readonly ends: ReadonlyMap<string, NodeEnd>;
  /** Nodes and virtual nodes that take exactly these attempts when nobody interferes. */
  readonly attempts: ReadonlyMap<string, number>;
  /** The execution succeeds if it is retried long enough. */
  readonly isCurable: boolean;
}

type Draft = Partial<Omit<Language, 'definition' | 'status'>> & {
  readonly nodes: readonly JsonObject[];
  readonly status?: Language['status'];
  readonly more?: JsonObject;
};

export function languageWorkflows(random: Random): WorkflowSpec[] {
  return [
    forEachWorkflow(random, 'each'),
    bodyWorkflow(random, 'bodies'),
    repeatWorkflow(random, 'poll'),
    sagaWorkflow(random, 'saga'),
    raceWorkflow(random, 'race'),
    eventWorkflow(random, 'events'),
    expiryWorkflow(random, 'expiry'),
    endWorkflow(random, 'early-end'),
  ];
}

function written(id: string, { nodes, more = {}, ...about }: Draft): WorkflowSpec {
  const definition = { id, displayName: id, startNode: nodes[0]!.id!, snapshot: { mode: 'Full' }, nodes: [...nodes] };
  const language: Language = {
    definition: { ...definition, ...more },
    outcomes: new Map(),
    outputs: new Map(),
    events: [],
    status: 'Succeeded',
    ends: new Map(),
    attempts: new Map(),
    isCurable: false,
    ...about,
  };
  return { id, format: 'graph', nodes: [], timeoutMs: null, language };
}

const to = (...ids: string[]) => ({ edges: ids.map((targetNode) => ({ targetNode })) });

function action(id: string, maxAttempts: number, more: JsonObject = {}): JsonObject {
  const policies = { retry: { maxAttempts, baseDelayMs: 150 }, timeoutMs: 60_000 };
  return { id, actionType: 'core.echo', parameters: { value: '{{ trigger.value }}' }, policies, ...more };
}

/** Some failures first, or too many: the end follows from the number of allowed attempts. */
function script(random: Random, maxAttempts: number): { outcomes: AttemptOutcome[]; attempts: number; isOk: boolean } {
  if (random.chance(0.6)) return { outcomes: [], attempts: 1, isOk: true };
  if (random.chance(0.25)) return { outcomes: ['terminal'], attempts: 1, isOk: false };
  const failures = random.between(1, maxAttempts);
  const outcomes = Array.from({ length: failures }, () => random.pick(['retryable', 'timeout'] as const));
  return { outcomes, attempts: Math.min(failures + 1, maxAttempts), isOk: failures < maxAttempts };
}

/** For nodes that must be repeated until they succeed: they fail for a while, never for good. */
function fickle(random: Random, maxAttempts: number): AttemptOutcome[] {
  return Array.from({ length: random.pick([0, 0, 1, maxAttempts - 1]) }, () => 'retryable' as const);
}

function forEachWorkflow(random: Random, id: string): WorkflowSpec {
  const count = random.pick([0, 1, 3, 6, 12]);
  const tolerate = random.pick([0, 1, count]);
  const outcomes = new Map<string, AttemptOutcome[]>();
  const attempts = new Map<string, number>();
  let failed = 0;
  for (let item = 0; item < count; item++) {
    const drawn = script(random, 2);
    if (!drawn.isOk) failed++;
    outcomes.set(`ship[${item}]`, drawn.outcomes);
    attempts.set(`ship[${item}]`, drawn.attempts);
  }
  const isOk = failed <= tolerate;
  const items = Array.from({ length: count }, (_, item) => item);
  const forEach = { items, parallel: random.pick([1, 2, 5]), tolerate };
  const ship = action('ship', 2, { forEach, parameters: { item: '{{ item }}', at: '{{ index }}' }, ...to('after') });
  return written(id, {
    nodes: [ship, action('after', 1)],
    outcomes,
    status: isOk ? 'Succeeded' : 'Failed',
    ends: isOk ? ends('ship', 'after') : new Map(),
    attempts: isOk ? attempts : new Map(),
    isCurable: true,
  });
}

function bodyWorkflow(random: Random, id: string): WorkflowSpec {
  const count = random.between(1, 4);
  const outcomes = new Map<string, AttemptOutcome[]>();
  const attempts = new Map<string, number>();
  for (let item = 0; item < count; item++) {
    for (const step of ['charge', 'pack', 'ship']) {
      const failures = fickle(random, 3);
      outcomes.set(`order[${item}].${step}`, failures);
      attempts.set(`order[${item}].${step}`, failures.length + 1);
    }
  }
  const inner = [
    action('charge', 3, { parameters: { item: '{{ item }}' }, ...to('pack', 'ship') }),
    action('pack', 3),
    action('ship', 3, { parameters: { charged: '{{ context.data.charge.ok }}' } }),
  ];
  const forEach = { items: Array.from({ length: count }, () => 'x'), parallel: random.pick([1, 2, 4]) };
  const order = { id: 'order', forEach, body: { startNode: 'charge', nodes: inner }, ...to('after') };
  return written(id, {
    nodes: [order, action('after', 1)],
    outcomes,
    ends: ends('order', 'after'),
    attempts,
  });
}

function repeatWorkflow(random: Random, id: string): WorkflowSpec {
  const rounds = random.between(1, 5);
  const maxRounds = random.pick([rounds, rounds + 2, Math.max(1, rounds - 1)]);
  const outputs = new Map<string, JsonObject>();
  const outcomes = new Map<string, AttemptOutcome[]>();
  const attempts = new Map<string, number>();
  for (let round = 0; round < Math.min(rounds, maxRounds); round++) {
    const failures = fickle(random, 2);
    outcomes.set(`poll[${round}]`, failures);
    attempts.set(`poll[${round}]`, failures.length + 1);
    outputs.set(`poll[${round}]`, { done: round === rounds - 1 });
  }
  const repeat = { until: 'output.done === true', maxRounds, delayMs: random.pick([0, 50, 700, 3_000]) };
  const parameters = { round: '{{ round }}', last: '{{ previous?.done ?? null }}' };
  const isOk = rounds <= maxRounds;
  return written(id, {
    nodes: [action('poll', 2, { repeat, parameters, ...to('after') }), action('after', 1)],
    outcomes,
    outputs,
    status: isOk ? 'Succeeded' : 'Failed',
    ends: isOk ? ends('poll', 'after') : new Map([['poll', 'Failed']]),
    attempts,
  });
}

/** A chain whose steps can be undone, most of them, and a step that releases something whatever happens. */
function sagaWorkflow(random: Random, id: string): WorkflowSpec {
  const count = random.between(2, 5);
  const failsAt = random.chance(0.7) ? random.between(1, count - 1) : count;
  const nodes: JsonObject[] = [];
  const outcomes = new Map<string, AttemptOutcome[]>();
  const ended = new Map<string, NodeEnd>();
  const attempts = new Map<string, number>();
  for (let at = 0; at < count; at++) {
    const isUndone = random.chance(0.8);
    const next = at + 1 < count ? to(`step${at + 1}`) : {};
    nodes.push(action(`step${at}`, 2, { ...next, ...(isUndone ? { compensate: `undo${at}` } : {}) }));
    if (at === failsAt) outcomes.set(`step${at}`, ['terminal']);
    ended.set(`step${at}`, at < failsAt ? 'Succeeded' : at === failsAt ? 'Failed' : 'Skipped');
    if (!isUndone) continue;
    nodes.push(action(`undo${at}`, 3));
    const isBroken = random.chance(0.1);
    const failures: AttemptOutcome[] = isBroken ? ['terminal'] : fickle(random, 3);
    outcomes.set(`undo${at}`, failures);
    const runs = failsAt < count && at < failsAt;
    ended.set(`undo${at}`, runs ? (isBroken ? 'Failed' : 'Succeeded') : 'Skipped');
    if (runs) attempts.set(`undo${at}`, isBroken ? 1 : failures.length + 1);
  }
  nodes.push(action('release', 2));
  ended.set('release', 'Succeeded');
  attempts.set('release', 1);
  return written(id, {
    nodes,
    more: { finally: ['release'] },
    outcomes,
    status: failsAt < count ? 'Failed' : 'Succeeded',
    ends: ended,
    attempts,
  });
}

/** Several suppliers are asked, and the first few answers are enough. */
function raceWorkflow(random: Random, id: string): WorkflowSpec {
  const count = random.between(2, 4);
  const names = Array.from({ length: count }, (_, at) => `supplier${at}`);
  const outcomes = new Map<string, AttemptOutcome[]>(names.map((name) => [name, fickle(random, 3)]));
  const join = { first: random.between(1, count - 1), cancelRest: random.chance(0.8) };
  const suppliers = names.map((name) => action(name, 3, to('chosen')));
  return written(id, {
    nodes: [
      action('ask', 1, to(...names)),
      ...suppliers,
      action('chosen', 1, { join, ...to('after') }),
      action('after', 1),
    ],
    outcomes,
    ends: ends('ask', 'chosen', 'after'),
    attempts: new Map([
      ['chosen', 1],
      ['after', 1],
    ]),
  });
}

function eventWorkflow(random: Random, id: string): WorkflowSpec {
  const isRepeated = random.chance(0.3);
  const count = isRepeated ? 1 : random.pick([1, 1, 2, 3]);
  const key = isRepeated ? '{{ context.data.before.ok ? trigger.value : -1 }}' : '{{ trigger.value }}';
  const events = Array.from({ length: count }, (_, at): PostedEvent => {
    const afterMs = random.pick([0, 0, random.between(1, 6_000)]);
    const type = random.pick(['paid', 'refused']);
    return { id: `event${at}`, type, afterMs, isSentTwice: random.chance(0.4), isRepeated };
  });
  const awaited = ['paid', 'refused'].map((type) => ({ type, key, at: 'order' }));
  const wait = { id: 'decision', nodeType: 'wait', events: awaited, count, ...to('after') };
  const slow = random.chance(0.5) ? [{ id: 'pause', actionType: 'core.delay', parameters: { durationMs: 900 } }] : [];
  const first = slow.length > 0 ? to('pause') : to('decision');
  return written(id, {
    nodes: [
      action('before', 1, first),
      ...slow.map((node) => ({ ...node, ...to('decision') })),
      wait,
      action('after', 1),
    ],
    events,
    ends: ends('before', 'decision', 'after'),
    attempts: new Map([['after', 1]]),
  });
}

/** No event comes, and the wait ends by itself. */
function expiryWorkflow(random: Random, id: string): WorkflowSpec {
  const onTimeout = random.pick(['continue', 'fail']);
  const wait = { id: 'decision', nodeType: 'wait', callback: true, timeoutMs: random.between(100, 4_000), onTimeout };
  const events = [{ type: 'paid', key: 'nobody', at: 'order' }];
  return written(id, {
    nodes: [{ ...wait, events, edges: [{ targetNode: 'after', when: 'always' }] }, action('after', 1)],
    ends: new Map([
      ['decision', onTimeout === 'continue' ? 'Succeeded' : 'TimedOut'],
      ['after', 'Succeeded'],
    ]),
    attempts: new Map([['after', 1]]),
  });
}

function endWorkflow(random: Random, id: string): WorkflowSpec {
  const status = random.pick(['Succeeded', 'Failed'] as const);
  const told = status === 'Succeeded' ? { outputs: { early: true } } : { error: { code: 'REFUSED', message: 'no' } };
  const slow = { id: 'slow', actionType: 'core.delay', parameters: { durationMs: 30_000 }, ...to('never') };
  return written(id, {
    nodes: [
      action('decide', 1, to('stop', 'slow')),
      { id: 'stop', nodeType: 'end', status, ...told },
      slow,
      action('never', 1),
    ],
    status,
    ends: new Map([
      ['stop', 'Succeeded'],
      ['never', 'Skipped'],
    ]),
  });
}

function ends(...ids: string[]): Map<string, NodeEnd> {
  return new Map(ids.map((id) => [id, 'Succeeded']));
}
