// One case of the simulation as data: workflows, executions with what people do to them, machines, and faults with their times.
// Drawn from a seed; a failing case is shrunk by taking away parts of this data.

import type { EngineOptions } from '../../src/engine/environment.ts';
import { type Expectation, expectationOf } from './expectation.ts';
import { type Fault, LEASE_MS, randomFates, randomFaults } from './fault.ts';
import type { ForeignFaults } from './foreign-engine.ts';
import { type Language, languageWorkflows } from './language.ts';
import type { Fate } from './network.ts';
import { createRandom, type Random } from './random.ts';
import {
  blockedWorkflow,
  cascadeWorkflow,
  overdueWorkflow,
  poisonWorkflow,
  randomWorkflow,
  type WorkflowSpec,
} from './workflow.ts';

/** What people do to an execution besides starting it. */
type Control =
  | { readonly kind: 'none' }
  | { readonly kind: 'cancel'; readonly afterMs: number }
  | { readonly kind: 'pause'; readonly afterMs: number; readonly forMs: number }
  /** Other parameters, for one attempt or for all later ones; the end of the execution stays the same. */
  | { readonly kind: 'patch'; readonly afterMs: number; readonly nodeId: string }
  /** After a failure: retry by force until the execution succeeds, or once without force. */
  | { readonly kind: 'retry' }
  /** After a success: run a step and all later steps again, requested twice. */
  | { readonly kind: 'rerun'; readonly nodeId: string }
  /** Any step that waits, sleeps, is between attempts or has failed by then is completed by hand, requested twice. */
  | { readonly kind: 'complete'; readonly afterMs: number }
  | { readonly kind: 'refusedRetry' };

export interface ExecutionCase {
  readonly number: number;
  readonly workflow: WorkflowSpec;
  readonly startAtMs: number;
  readonly tenantId: string;
  readonly priority: number;
  readonly isSentTwice: boolean;
  readonly control: Control;
  /** An outside engine runs this execution. */
  readonly isOutside?: boolean;
  /** When the callbacks come, per webhook node: −1 = before the node waits, as early as possible. */
  readonly callbacks: readonly { readonly nodeId: string; readonly afterMs: number; readonly isSentTwice: boolean }[];
}

export interface Case {
  readonly seed: number;
  readonly runners: number;
  readonly executions: readonly ExecutionCase[];
  readonly faults: readonly Fault[];
  readonly fates: Readonly<Record<Fate, number>>;
  readonly hintLoss: number;
  /** After this time, nothing new goes wrong. */
  readonly healAtMs: number;
  readonly options: Partial<EngineOptions>;
  /** How unreliable the calls from and to the outside engine are; null: every execution is native. */
  readonly foreign: ForeignFaults | null;
}

export const LEASE_MARGIN_MS = 600;
const TENANTS = ['acme', 'globex'];

export function generateCase(seed: number): Case {
  const random = createRandom(seed);
  const runners = random.pick([1, 2, 2, 3, 4]);
  const healAtMs = random.between(2_500, 8_000);
  return {
    seed,
    runners,
    executions: randomExecutions(random.fork('executions'), healAtMs),
    faults: randomFaults(random.fork('faults'), runners, healAtMs),
    fates: randomFates(random.fork('fates')),
    hintLoss: random.pick([0, 0.2, 1]),
    healAtMs,
    foreign: null,
    options: {
      leaseMs: LEASE_MS,
      leaseMarginMs: LEASE_MARGIN_MS,
      maxParallelActions: random.pick([1, 3, 50]),
      maxResident: random.pick([3, 8, 100]),
      parkAfterMs: random.pick([100, 500, 2_000]),
      abortGraceMs: 800,
      drainMs: 3_000,
      commitSlots: random.pick([1, 2, 3]),
      maxParallelPerTenant: random.pick([1, 2, 0]),
    },
  };
}

/**
 * The same with an outside engine, which runs most of the executions. That engine does not count the crashes of a poisoned
 * execution.
 */
export function generateOutsideCase(seed: number): Case {
  const given = generateCase(seed);
  const random = createRandom(seed).fork('foreign');
  const level = random.pick([0, 0.05, 0.15]);
  const share = () => level * random.pick([0, 0.5, 1]);
  const foreign = { lost: share(), twice: share(), unanswered: share(), gone: share() / 10 };
  const isPoisoned = ({ id, nodes }: WorkflowSpec): boolean =>
    id === 'poison' || nodes.some(({ child }) => child !== null && isPoisoned(child));
  const executions = given.executions.map((execution) =>
    isPoisoned(execution.workflow) ? execution : { ...execution, isOutside: random.chance(0.8) },
  );
  return { ...given, foreign, executions };
}

function randomExecutions(random: Random, healAtMs: number): ExecutionCase[] {
  const leaves = [0, 1].map((at) => randomWorkflow(random, { id: `leaf-${at}`, children: [], webhooks: false }));
  const workflows = [
    ...leaves,
    randomWorkflow(random, { id: 'mid', children: leaves, webhooks: false }),
    randomWorkflow(random, { id: 'callbacks', children: [], webhooks: true }),
    randomWorkflow(random, { id: 'other', children: leaves, webhooks: false }),
  ];
  const mid = workflows[2]!;
  const poison = poisonWorkflow(random, 'poison');
  const isPoisoned = random.chance(0.15);
  if (isPoisoned)
    workflows.push(poison, randomWorkflow(random, { id: 'near-poison', children: [poison], webhooks: false }));
  workflows.push(randomWorkflow(random, { id: 'top', children: [mid, ...leaves], webhooks: false }));
  if (random.chance(0.3)) workflows.push(overdueWorkflow(random, 'overdue'));
  if (random.chance(0.3)) workflows.push(blockedWorkflow('blocked'));
  if (random.chance(0.3)) workflows.push(cascadeWorkflow(random, 'cascade'));
  if (random.chance(0.15))
    workflows.push(randomWorkflow(random, { id: 'long', children: [], webhooks: false, long: true }));
  workflows.push(...languageWorkflows(random));
  const count = random.pick([5, 8, 15, 30, 60]);
  // Spread over the time of the faults, or all at once as a backlog.
  const latestMs = random.chance(0.4) ? 300 : healAtMs * 0.7;
  return Array.from({ length: count }, (_, number) =>
    randomExecution(random, number, random.pick(workflows), latestMs),
  );
}

function randomExecution(random: Random, number: number, workflow: WorkflowSpec, latestMs: number): ExecutionCase {
  const isBlocked = workflow.id === 'blocked';
  return {
    number,
    workflow,
    startAtMs: random.between(0, latestMs),
    tenantId: random.pick(TENANTS),
    priority: random.pick([5, 5, 5, 9, 0]),
    isSentTwice: random.chance(0.2),
    control: isBlocked
      ? { kind: 'cancel', afterMs: random.between(0, 5_000) }
      : randomControl(random, number, workflow),
    callbacks: isBlocked
      ? []
      : workflow.nodes
          .filter(({ kind }) => kind === 'webhook')
          .map(({ id }) => ({
            nodeId: id,
            afterMs: random.chance(0.4) ? -1 : random.between(50, 6_000),
            isSentTwice: random.chance(0.3),
          })),
  };
}

function randomControl(random: Random, number: number, workflow: WorkflowSpec): Control {
  if (random.chance(0.08)) return { kind: 'cancel', afterMs: random.between(0, 4_000) };
  if (random.chance(0.1))
    return { kind: 'pause', afterMs: random.between(0, 3_000), forMs: random.between(400, 4_000) };
  if (random.chance(0.15)) {
    const { nodes } = workflow.language?.definition ?? workflow;
    return { kind: 'patch', afterMs: random.between(0, 2_500), nodeId: random.pick(nodes as { id: string }[]).id };
  }
  const isCurable = workflow.language?.isCurable ?? workflow.nodes.every(({ child }) => child === null);
  const canRecover = expectationOf(workflow).status === 'Failed' && isCurable;
  if (canRecover && workflow.id !== 'poison' && random.chance(0.5)) {
    return { kind: random.pick(['retry', 'refusedRetry']) };
  }
  return randomRepair(random.fork(`repair ${number}`), workflow);
}

/**
 * Drawn from a stream of its own, so that older seeds keep their cases. A callback comes once, so a step that waits for one
 * is not run again.
 */
function randomRepair(random: Random, workflow: WorkflowSpec): Control {
  const { status } = expectationOf(workflow);
  const isScripted = workflow.language !== undefined;
  const isPlain = !isScripted && workflow.nodes.every(({ kind }) => kind === 'action' || kind === 'sleep');
  if (!isPlain || workflow.id === 'poison' || status === 'TimedOut' || !random.chance(0.4)) return { kind: 'none' };
  if (status === 'Succeeded' && random.chance(0.5)) return { kind: 'rerun', nodeId: random.pick(workflow.nodes).id };
  return { kind: 'complete', afterMs: random.between(0, 3_000) };
}

/** How the execution may end, whatever goes wrong meanwhile. */
export function allowedEnds({ workflow, control }: ExecutionCase): { statuses: string[]; expectation: Expectation } {
  const expectation = expectationOf(workflow);
  const statuses: string[] = [expectation.status];
  if (workflow.id === 'blocked') return { statuses: ['Cancelled'], expectation };
  if (control.kind === 'cancel') statuses.push('Cancelled');
  if (control.kind === 'retry') return { statuses: ['Succeeded'], expectation };
  if (control.kind === 'refusedRetry') statuses.push('Succeeded');
  // Another way through the graph may end differently, because its nodes have scripts of their own.
  if (control.kind === 'rerun' || control.kind === 'complete') statuses.push('Succeeded', 'Failed');
  return { statuses, expectation };
}

function describeLanguage({ definition, outcomes, outputs, events }: Language): string {
  const told = { outcomes: Object.fromEntries(outcomes), outputs: Object.fromEntries(outputs), events };
  return `${JSON.stringify(definition)} ${JSON.stringify(told)}`;
}

export function describeCase({ seed, runners, executions, faults, fates, hintLoss, healAtMs, options }: Case): string {
  const lines = executions.map(({ number, workflow, startAtMs, control, callbacks }) => {
    const nodes = workflow.nodes.map((node) => {
      const needs = node.needs.map(({ id, when }) => `${when === 'success' ? '' : `${when} `}${id}`).join();
      const child = node.child === null ? '' : ` ${node.child.id}`;
      return `${node.id}:${node.kind}${child}(${needs})[${node.outcomes.join()}]`;
    });
    if (workflow.language !== undefined) nodes.push(describeLanguage(workflow.language));
    const calls = callbacks.map(({ nodeId, afterMs }) => `${nodeId}@${afterMs}`).join();
    return `  #${number} ${workflow.id} ${workflow.format} at ${startAtMs} ${JSON.stringify(control)} ${calls} ${nodes.join(' ')}`;
  });
  const weather = JSON.stringify({ fates, hintLoss, healAtMs, options });
  return [
    `seed ${seed}, ${runners} runners, ${weather}`,
    ...faults.map((fault) => `  ${JSON.stringify(fault)}`),
    ...lines,
  ].join('\n');
}
