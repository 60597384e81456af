// The workflows of a run: small, each about one thing that crashes could break. The values that vary between executions come with
// the trigger, so each workflow is published once.

import type { Json, JsonObject } from '../../src/core/json/json.ts';

const RETRY = { maxAttempts: 4, baseDelayMs: 100, backoffFactor: 2, jitter: true };

interface EffectOptions {
  readonly workMs?: Json;
  readonly value?: string;
  readonly failTimes?: Json;
  readonly terminal?: boolean;
}

function effectParameters({
  workMs = '{{ trigger.workMs }}',
  value = '{{ trigger.value }}',
  failTimes,
  terminal,
}: EffectOptions): JsonObject {
  return {
    sink: '{{ trigger.sink }}',
    workMs,
    value,
    ...(failTimes === undefined ? {} : { failTimes }),
    ...(terminal === undefined ? {} : { terminal }),
  };
}

function effect(id: string, next: readonly string[], options: EffectOptions = {}, more: JsonObject = {}): JsonObject {
  const edges = next.map((targetNode) => ({ targetNode }));
  const policies = { retry: RETRY };
  return { id, actionType: 'chaos.effect', parameters: effectParameters(options), policies, edges, ...more };
}

function delay(id: string, durationMs: Json, next: readonly string[]): JsonObject {
  return {
    id,
    actionType: 'core.delay',
    parameters: { durationMs },
    edges: next.map((targetNode) => ({ targetNode })),
  };
}

function child(id: string, workflowId: string, next: readonly string[], more: JsonObject = {}): JsonObject {
  const names = ['sink', 'workMs', 'value', 'flaky'];
  const parameters = Object.fromEntries(names.map((name) => [name, `{{ trigger.${name} }}`]));
  const edges = next.map((targetNode) => ({ targetNode }));
  return { id, nodeType: 'subworkflow', workflowId, parameters, edges, ...more };
}

function graph(id: string, nodes: JsonObject[], more: JsonObject = {}): JsonObject {
  return { id, displayName: id, startNode: nodes[0]!.id!, nodes, ...more };
}

const outputOf = (id: string) => `context.data['${id}'].value`;

export const FAN_WIDTH = 6;
export const fanBranches = Array.from({ length: FAN_WIDTH }, (_, index) => `branch-${index}`);

const chain = graph(
  'chain',
  ['n1', 'n2', 'n3', 'n4', 'n5'].map((id, index, ids) =>
    effect(
      id,
      index < 4 ? [ids[index + 1]!] : [],
      index === 0 ? {} : { value: `{{ ${outputOf(ids[index - 1]!)} + 1 }}` },
    ),
  ),
);

/** One branch, which the trigger names, fails once. The join adds up the values of all branches. */
const fan = graph('fan', [
  effect('start', fanBranches),
  ...fanBranches.map((id, index) => effect(id, ['join'], { failTimes: `{{ trigger.flaky === ${index} ? 1 : 0 }}` })),
  effect('join', [], { value: `{{ ${['start', ...fanBranches].map(outputOf).join(' + ')} }}` }),
]);

const nap = graph('nap', [
  effect('before', ['sleep']),
  delay('sleep', '{{ trigger.napMs }}', ['after']),
  effect('after', [], { value: `{{ ${outputOf('before')} + 1 }}` }),
]);

export const SAGA_LENGTH = 27;
export const sagaNode = (index: number): string => `act-${index}`;
export const sagaRests = [8, 17, 25].map((after) => ({ id: `rest-${after}`, after }));

/** Long enough for a checkpoint at its later rests: a runner that takes it over then folds less than the whole journal. */
const saga = graph(
  'saga',
  Array.from({ length: SAGA_LENGTH }, (_, index) => {
    const rest = sagaRests.find(({ after }) => after === index);
    const next = index === SAGA_LENGTH - 1 ? [] : [rest?.id ?? sagaNode(index + 1)];
    const options = { workMs: 0, ...(index === 0 ? {} : { value: `{{ ${outputOf(sagaNode(index - 1))} + 1 }}` }) };
    const act = effect(sagaNode(index), next, options);
    return rest === undefined ? [act] : [act, delay(rest.id, 1_000, [sagaNode(index + 1)])];
  }).flat(),
);

const flaky = graph('flaky', [effect('try', ['done'], { failTimes: '{{ trigger.failTimes }}' }), effect('done', [])]);

/** Its retry delay is so long that only a cancel ends the execution. */
const fickle = graph('fickle', [
  effect('try', [], { failTimes: 9 }, { policies: { retry: { ...RETRY, baseDelayMs: 600_000 } } }),
]);

const rescued = graph('rescued', [
  effect('boom', ['never'], { failTimes: 9, terminal: true }, { onFailure: 'rescue' }),
  effect('never', []),
  effect('rescue', []),
]);

const doomed = graph('doomed', [effect('boom', ['never'], { failTimes: 9, terminal: true }), effect('never', [])]);

/** Fails, and succeeds when an operator retries the step. */
const revived = graph('revived', [effect('boom', ['after'], { failTimes: 1, terminal: true }), effect('after', [])]);

const family = graph('family', [
  effect('before', ['child']),
  child('child', 'fan', ['after']),
  effect('after', [], { value: '{{ context.data.child.outputs.value + 1 }}' }),
]);

const bereaved = graph('bereaved', [
  child('child', 'doomed', ['never'], { onFailure: 'rescue' }),
  effect('never', []),
  effect('rescue', []),
]);

const launch = graph('launch', [child('child', 'chain', ['after'], { waitForCompletion: false }), effect('after', [])]);

/** Its child waits for a callback that never comes, so only a cancel ends the two executions. */
const stuckFamily = graph('stuck-family', [child('child', 'stuck', ['after']), effect('after', [])]);

const expiring = graph(
  'expiring',
  [effect('before', ['sleep']), delay('sleep', 600_000, ['never']), effect('never', [])],
  {
    timeoutMs: 3_000,
  },
);

function post(needs: readonly string[], body: Json, more: JsonObject = {}): JsonObject {
  return { url: '{{ trigger.body.sink }}', needs: [...needs], body, ...more };
}

const hook = {
  name: 'hook',
  tasks: {
    ask: post([], { url: '{{ wait.gate.url }}' }),
    gate: { needs: ['ask'], wait_for_webhook: {} },
    tell: post(['gate'], { answer: '{{ tasks.gate.body.answer }}' }),
  },
};

const stuck = {
  name: 'stuck',
  tasks: { ask: post([], {}), gate: { needs: ['ask'], wait_for_webhook: {} } },
};

const patient = {
  name: 'patient',
  tasks: {
    gate: { wait_for_webhook: { timeout: 2 } },
    nap: { needs: ['gate'], if: "tasks.gate.status == 'timeout'", sleep: 1 },
    tell: post(['nap'], {}),
  },
};

function step(stepId: string, dependsOn: readonly string[], more: JsonObject = {}): JsonObject {
  const inputs = { sink: '{{ inputs.sink }}', workMs: '{{ inputs.workMs }}', value: '{{ inputs.value }}' };
  return { stepId, type: 'chaos.effect', inputs, timeout: '1m', dependsOn: [...dependsOn], ...more };
}

const diamond = {
  metadata: {
    planId: 'diamond',
    planVersion: '1',
    createdAt: '2026-02-22T10:00:00Z',
    createdBy: 'chaos',
    schemaVersion: 'v1',
  },
  scope: { tenantId: 'default', projectId: 'default', environmentId: 'default', repoSha: 'none' },
  steps: [
    step('top', []),
    step('left', ['top']),
    { stepId: 'rest', type: 'core.delay', inputs: { durationMs: 1_200 }, timeout: '1m', dependsOn: ['top'] },
    step('right', ['rest']),
    step('off', ['top'], { when: { expression: 'inputs.value < 0' } }),
    step('bottom', ['left', 'right'], {
      inputs: {
        sink: '{{ inputs.sink }}',
        workMs: '{{ inputs.workMs }}',
        value: '{{ steps.left.output.value + steps.right.output.value }}',
      },
    }),
  ],
};

export const definitions: readonly JsonObject[] = [
  chain,
  fan,
  saga,
  nap,
  flaky,
  fickle,
  rescued,
  doomed,
  revived,
  family,
  bereaved,
  launch,
  hook,
  stuck,
  stuckFamily,
  patient,
  expiring,
  diamond,
];
