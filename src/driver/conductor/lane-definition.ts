// The Conductor workflow of a plan: one lane per node, so that Conductor's own pages show the nodes and their dependencies. A
// lane joins its predecessors' lanes and then loops: ask our decider (turn), run an attempt or nothing (step), ask again. The
// lane of a loop runs the attempts of its items. Lanes always end, so a join never hangs on a branch that was not taken. One
// extra lane runs the attempts of nodes that are retried after their own lane has ended. Pure.

import type { Plan } from '../../core/plan/plan.ts';
import type { Problem } from '../../core/problem/problem.ts';

export const TURN_TASK = 'pawl.turn';
export const NOOP_TASK = 'pawl.noop';
export const MAX_LANES = 100;
/** The extra lane. */
export const REST = 'rest';

export const stepTask = (taskQueue: string): string => `pawl.step.${taskQueue}`;

export type ConductorTask = Readonly<Record<string, unknown>>;

export interface ConductorDefinition {
  readonly name: string;
  readonly version: number;
  readonly tasks: readonly ConductorTask[];
  readonly [field: string]: unknown;
}

/** When a worker dies, another one gets the same task after this time. */
const TURN_TIMEOUT_S = 10;
const STEP_TIMEOUT_S = 15;
const OFTEN = 1_000_000;

export function laneDefinition(plan: Plan): ConductorDefinition {
  const lanes = plan.nodes.map((node, index) => {
    const predecessors = [...new Set(node.incoming.map((edge) => plan.edges[edge]!.from))];
    // A node that starts after the first few predecessors cannot wait for the lanes of all.
    const joined = typeof node.join === 'string' ? predecessors : [];
    return { key: laneKey(node.id, index), node: node.id, joinOn: joined.map((from) => keyOf(plan, from)) };
  });
  const all = [...lanes, { key: REST, node: null, joinOn: [] as string[] }];
  return {
    name: `pawl.${plan.id}`,
    version: 1,
    schemaVersion: 2,
    ownerEmail: 'pawl@localhost',
    timeoutPolicy: 'ALERT_ONLY',
    timeoutSeconds: 0,
    restartable: false,
    inputParameters: ['executionId', 'epoch'],
    outputParameters: {},
    tasks: [
      { name: 'fork', taskReferenceName: 'fork', type: 'FORK_JOIN', forkTasks: all.map(laneTasks) },
      { name: 'join', taskReferenceName: 'all', type: 'JOIN', joinOn: all.map(({ key }) => `lane_${key}`) },
      turnTask('finish', 'finish', null),
    ],
  };
}

/** Features of the plan that this engine does not support. */
export function conductorProblems(plan: Plan): Problem[] {
  const count = plan.nodes.length;
  if (count <= MAX_LANES) return [];
  const message = `Conductor runs at most ${MAX_LANES} nodes; this workflow has ${count}`;
  const suggestion = 'split it into subworkflows, or run it natively or on Temporal';
  return [{ code: 'UNSUPPORTED_BY_ENGINE', path: '', message, suggestion }];
}

/** The node whose lane runs this attempt. Attempts of items and rounds (`ship[3].charge`) run in the lane of their loop. */
export function laneOf(nodeId: string): string {
  const item = nodeId.indexOf('[');
  return item < 0 ? nodeId : nodeId.slice(0, item);
}

interface Lane {
  readonly key: string;
  /** null: the extra lane. */
  readonly node: string | null;
  readonly joinOn: readonly string[];
}

function laneTasks({ key, node, joinOn }: Lane): ConductorTask[] {
  const join = {
    name: 'join',
    taskReferenceName: `in_${key}`,
    type: 'JOIN',
    joinOn: joinOn.map((other) => `lane_${other}`),
  };
  return [
    ...(joinOn.length === 0 ? [] : [join]),
    {
      name: 'lane',
      taskReferenceName: `lane_${key}`,
      type: 'DO_WHILE',
      inputParameters: { node },
      loopCondition: `$.done_${key}['again'] == true`,
      loopOver: [turnTask(`gate_${key}`, 'gate', node), stepOf(key), turnTask(`done_${key}`, 'done', node)],
    },
  ];
}

const RUN = { executionId: '${workflow.input.executionId}', epoch: '${workflow.input.epoch}' };

function turnTask(reference: string, kind: string, node: string | null): ConductorTask {
  return {
    name: TURN_TASK,
    taskReferenceName: reference,
    type: 'SIMPLE',
    inputParameters: { ...RUN, kind, node },
    taskDefinition: taskDefinition(TURN_TASK, TURN_TIMEOUT_S),
  };
}

function stepOf(key: string): ConductorTask {
  return {
    name: 'step',
    taskReferenceName: `step_${key}`,
    type: 'DYNAMIC',
    dynamicTaskNameParam: 'taskType',
    inputParameters: {
      ...RUN,
      taskType: `\${gate_${key}.output.taskType}`,
      node: `\${gate_${key}.output.node}`,
      attempt: `\${gate_${key}.output.attempt}`,
    },
    taskDefinition: taskDefinition('step', STEP_TIMEOUT_S),
  };
}

/** These retries are only for lost workers; our decider retries nodes. */
function taskDefinition(name: string, responseTimeoutSeconds: number): ConductorTask {
  return {
    name,
    retryCount: OFTEN,
    retryDelaySeconds: 0,
    timeoutSeconds: 0,
    timeoutPolicy: 'RETRY',
    responseTimeoutSeconds,
  };
}

function keyOf(plan: Plan, index: number): string {
  return laneKey(plan.nodes[index]!.id, index);
}

/** A name that Conductor's expressions accept and a person recognises. */
function laneKey(id: string, index: number): string {
  return `${id.replaceAll(/[^A-Za-z0-9]/g, '_').slice(0, 60)}_${index}`;
}
