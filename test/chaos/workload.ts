// What is started, what is done to it afterwards, and what the outcome must be. The expected ledger is part of each piece of work
// when it is drawn, so nothing that happens later can talk the check into agreeing.

import type { Json, JsonObject } from '../../src/core/json/json.ts';
import type { AttemptRow } from '../../src/store/port.ts';
import type { Random } from './random.ts';
import { FAN_WIDTH, fanBranches, SAGA_LENGTH, sagaNode, sagaRests } from './workflow-definitions.ts';

type AttemptStatus = AttemptRow['status'];

export interface Expectation {
  readonly status: 'Succeeded' | 'Failed' | 'Cancelled' | 'TimedOut';
  /** By node, the ways in which its attempts may have ended, in order. A node that is absent here has no attempts. */
  readonly attempts: Readonly<Record<string, readonly (readonly AttemptStatus[])[]>>;
  /** `value` of a node's last attempt: the value that came through all the nodes before it. */
  readonly values?: Readonly<Record<string, number>>;
  /** By node: the child that the node starts. */
  readonly children?: Readonly<Record<string, Expectation>>;
  /** The children may be missing, because the parent was stopped before it started them. */
  readonly childrenOptional?: true;
  readonly sleptMs?: Readonly<Record<string, number>>;
  readonly reopened?: true;
}

export type FollowUp = { readonly afterMs: number } & (
  | { readonly type: 'signal'; readonly signal: 'PAUSE' | 'RESUME' | 'ESCALATE_ALERT'; readonly copies: number }
  | { readonly type: 'callBack'; readonly nodeId: string; readonly payload: Json; readonly copies: number }
  | { readonly type: 'cancel' }
  /** Waits until the execution has failed, then retries the step. */
  | { readonly type: 'revive'; readonly nodeId: string }
);

export interface Work {
  readonly workId: string;
  readonly tenantId: string;
  readonly workflowId: string;
  readonly trigger: JsonObject;
  readonly priority: number;
  readonly followUps: readonly FollowUp[];
  readonly expected: Expectation;
}

type Draw = (random: Random, value: number) => Pick<Work, 'followUps' | 'expected'> & { readonly trigger?: JsonObject };

const ok: readonly (readonly AttemptStatus[])[] = [['Succeeded']];
const retried = (failures: number): readonly (readonly AttemptStatus[])[] => [
  [...Array<AttemptStatus>(failures).fill('RetriableFailure'), 'Succeeded'],
];
const failed: readonly (readonly AttemptStatus[])[] = [['Failed']];

function chain(value: number): Expectation {
  const attempts = { n1: ok, n2: ok, n3: ok, n4: ok, n5: ok };
  return { status: 'Succeeded', attempts, values: { n1: value, n5: value + 4 } };
}

function fan(value: number, flaky: number): Expectation {
  const branches = fanBranches.map((id, index) => [id, index === flaky ? retried(1) : ok]);
  return {
    status: 'Succeeded',
    attempts: { start: ok, ...Object.fromEntries(branches), join: ok },
    values: { join: value * (FAN_WIDTH + 1) },
  };
}

function saga(value: number): Expectation {
  const rests = sagaRests.map(({ id }) => id);
  const ids = [...Array.from({ length: SAGA_LENGTH }, (_, index) => sagaNode(index)), ...rests];
  return {
    status: 'Succeeded',
    attempts: Object.fromEntries(ids.map((id) => [id, ok])),
    values: { [sagaNode(SAGA_LENGTH - 1)]: value + SAGA_LENGTH - 1 },
  };
}

const doomed: Expectation = { status: 'Failed', attempts: { boom: failed } };

const stuck: Expectation = {
  status: 'Cancelled',
  attempts: { ask: [['Succeeded'], ['Cancelled'], []], gate: [['Cancelled'], []] },
};

const plain = (expected: Expectation): ReturnType<Draw> => ({ followUps: [], expected });

/** The answer comes early, on time or late; once or several times. */
function answer(random: Random): FollowUp {
  const payload = { answer: random.whole(1, 1_000_000) };
  return {
    type: 'callBack',
    nodeId: 'gate',
    payload,
    afterMs: random.whole(0, 2_500),
    copies: random.pick([1, 1, 2, 3]),
  };
}

function signal(name: 'PAUSE' | 'RESUME' | 'ESCALATE_ALERT', random: Random): FollowUp {
  return { type: 'signal', signal: name, afterMs: random.whole(0, 1_500), copies: random.pick([1, 1, 2]) };
}

const kinds: Readonly<Record<string, Draw>> = {
  chain: (_random, value) => plain(chain(value)),
  fan(random, value) {
    const flaky = random.whole(0, FAN_WIDTH);
    return { ...plain(fan(value, flaky)), trigger: { flaky } };
  },
  saga: (_random, value) => plain(saga(value)),
  nap(random, value) {
    const napMs = random.pick([random.whole(100, 700), random.whole(1_000, 5_000)]);
    const values = { after: value + 1 };
    const attempts = { before: ok, sleep: ok, after: ok };
    return { ...plain({ status: 'Succeeded', attempts, values, sleptMs: { sleep: napMs } }), trigger: { napMs } };
  },
  flaky(random) {
    const failTimes = random.whole(0, 3);
    return {
      ...plain({ status: 'Succeeded', attempts: { try: retried(failTimes), done: ok } }),
      trigger: { failTimes },
    };
  },
  fickle: (random) => ({
    followUps: [{ type: 'cancel', afterMs: random.whole(0, 2_500) }],
    expected: { status: 'Cancelled', attempts: { try: [['RetriableFailure'], ['Failed'], ['Cancelled'], []] } },
  }),
  rescued: () => plain({ status: 'Succeeded', attempts: { boom: failed, rescue: ok } }),
  doomed: () => plain(doomed),
  revived: (random) => ({
    followUps: [{ type: 'revive', nodeId: 'boom', afterMs: random.whole(0, 1_000) }],
    expected: { status: 'Succeeded', attempts: { boom: [['Failed', 'Succeeded']], after: ok }, reopened: true },
  }),
  family(random, value) {
    const flaky = random.whole(0, FAN_WIDTH);
    const children = { child: fan(value, flaky) };
    const values = { after: value * (FAN_WIDTH + 1) + 1 };
    return {
      ...plain({ status: 'Succeeded', attempts: { before: ok, child: ok, after: ok }, values, children }),
      trigger: { flaky },
    };
  },
  bereaved: () => plain({ status: 'Succeeded', attempts: { child: failed, rescue: ok }, children: { child: doomed } }),
  launch: (_random, value) =>
    plain({ status: 'Succeeded', attempts: { child: ok, after: ok }, children: { child: chain(value) } }),
  hook(random) {
    const pauses = random.chance(0.5) ? [signal('PAUSE', random), signal('RESUME', random)] : [];
    const alerts = random.chance(0.5) ? [signal('ESCALATE_ALERT', random)] : [];
    const attempts = { ask: ok, gate: ok, tell: ok };
    return { followUps: [...pauses, ...alerts, answer(random)], expected: { status: 'Succeeded', attempts } };
  },
  stuck: (random) => ({ followUps: [{ type: 'cancel', afterMs: random.whole(0, 2_500) }], expected: stuck }),
  'stuck-family': (random) => ({
    followUps: [{ type: 'cancel', afterMs: random.whole(0, 3_000) }],
    expected: {
      status: 'Cancelled',
      attempts: { child: [['Cancelled'], []] },
      children: { child: stuck },
      childrenOptional: true,
    },
  }),
  patient: () =>
    plain({ status: 'Succeeded', attempts: { gate: [['TimedOut']], nap: ok, tell: ok }, sleptMs: { nap: 1_000 } }),
  // A crash may keep the first node from ending in time.
  expiring: () =>
    plain({
      status: 'TimedOut',
      attempts: { before: [['Succeeded'], ['Cancelled']], sleep: [['Cancelled'], []] },
    }),
  diamond: (_random, value) =>
    plain({
      status: 'Succeeded',
      attempts: { top: ok, left: ok, rest: ok, right: ok, bottom: ok },
      values: { bottom: value * 2 },
      sleptMs: { rest: 1_200 },
    }),
};

export const TENANTS: readonly string[] = ['default', 'guest'];

export function drawWork(random: Random, number: number, sink: string): Work {
  const workflowId = random.pick(Object.keys(kinds));
  const value = random.whole(1, 1_000);
  const { followUps, expected, trigger = {} } = kinds[workflowId]!(random, value);
  const workMs = random.pick([0, random.whole(1, 50), random.whole(50, 400)]);
  return {
    workId: `work-${number}`,
    tenantId: random.pick(TENANTS),
    workflowId,
    priority: random.whole(3, 6),
    trigger: { sink, workMs, value, flaky: FAN_WIDTH, ...trigger },
    followUps,
    expected,
  };
}
