// The routing part of the naive reference: which edges a finished node satisfies, which nodes are admitted, why one is skipped,
// and which failures are unhandled. All of it is recomputed from the nodes' statuses.

import type { RandomPlan } from './random-plan.testing.ts';
import { type ExecutionStatus, isFinal, type NodeStatus } from './state.ts';

export type SkipCategory = 'no satisfied edge' | 'cascade' | 'condition' | 'stopped' | 'not needed';

interface ReferenceNode {
  status: NodeStatus;
  attempts: number;
  /** Attempts before the last reset. */
  base: number;
  until: number | null;
  skip: SkipCategory | null;
  saidOk: boolean;
  /** An unhandled failure from before a reopen: it counts only at the end. */
  tolerated: boolean;
  endedWhileStopping: boolean;
  /** A callback came before the node waited for it. */
  early: boolean;
  childId: string | null;
  /** The code of the last failure. */
  code: string;
  /** Given up by a join that went on without it. */
  lost: boolean;
}

export interface Reference {
  readonly random: RandomPlan;
  status: ExecutionStatus;
  nodes: ReferenceNode[];
  /** true = satisfied, false = not, null = not resolved. */
  edges: (boolean | null)[];
  deadline: number | null;
  stopping: { outcome: 'Failed' | 'Cancelled' | 'TimedOut'; graceUntil: number } | null;
  readonly signals: Set<string>;
  generation: number;
}

export function createReference(random: RandomPlan): Reference {
  return {
    random,
    status: 'Pending',
    nodes: random.plan.nodes.map(() => ({
      status: 'Pending',
      attempts: 0,
      base: 0,
      until: null,
      skip: null,
      saidOk: false,
      tolerated: false,
      endedWhileStopping: false,
      early: false,
      childId: null,
      code: '',
      lost: false,
    })),
    edges: random.plan.edges.map(() => null),
    deadline: null,
    stopping: null,
    signals: new Set(),
    generation: 0,
  };
}

/** The first edge whose condition holds, with the implicit `onFailure` edge as the last candidate. */
export function resolveEdges(reference: Reference, index: number): void {
  const { plan } = reference.random;
  const { outgoing, routePolicy } = plan.nodes[index]!;
  const outcome = outcomeOf(reference.nodes[index]!.status);
  let taken = false;
  let failureRouted = false;
  for (const at of outgoing) {
    const edge = plan.edges[at]!;
    const matches = outcome !== null && (edge.when === 'always' || edge.when === outcome);
    const isOpen: boolean = !(routePolicy === 'firstMatch' && taken) && !(edge.implicit && failureRouted);
    const { code, status } = reference.nodes[index]!;
    const isMeant =
      edge.codes === undefined ||
      edge.codes.some((name) => name === '*' || name === code || (name === 'TIMEOUT' && status === 'TimedOut'));
    const satisfied: boolean =
      matches && isOpen && isMeant && (edge.condition === null || holds(reference, edge.condition.source));
    reference.edges[at] = satisfied;
    taken ||= satisfied;
    failureRouted ||= satisfied && edge.when === 'failure';
  }
}

function outcomeOf(status: NodeStatus): 'success' | 'failure' | null {
  if (status === 'Succeeded') return 'success';
  return status === 'Failed' || status === 'TimedOut' ? 'failure' : null;
}

function holds(reference: Reference, source: string): boolean {
  const meaning = reference.random.meaning.get(source)!;
  if (meaning.is === 'literal') return meaning.value;
  if (meaning.is === 'throws') return false;
  const { plan } = reference.random;
  const { status, saidOk } = reference.nodes[plan.nodes.findIndex((node) => node.id === meaning.nodeId)]!;
  if (meaning.is === 'ok') return status === 'Succeeded' && saidOk;
  if (meaning.is === 'skipped') return status === 'Skipped';
  // A pipeline distinguishes failure and timeout; a graph's data holds the error of both.
  return status === 'Failed' || (status === 'TimedOut' && plan.format === 'graph');
}

export function isAdmitted(reference: Reference, index: number): boolean {
  const { incoming, join } = reference.random.plan.nodes[index]!;
  if (reference.nodes[index]!.status !== 'Pending') return false;
  const open = incoming.filter((edge) => reference.edges[edge] === null).length;
  const satisfied = incoming.filter((edge) => reference.edges[edge] === true).length;
  return open === 0 || (typeof join === 'object' && (satisfied >= join.first || satisfied + open < join.first));
}

export function whySkip(reference: Reference, index: number): SkipCategory | null {
  if (!isAdmitted(reference, index)) return null;
  const { incoming, join, condition } = reference.random.plan.nodes[index]!;
  const satisfied = incoming.filter((edge) => reference.edges[edge] === true).length;
  if (join === 'any' && incoming.length > 0 && satisfied === 0) return 'no satisfied edge';
  if (join === 'all' && satisfied < incoming.length) return 'cascade';
  if (typeof join === 'object' && satisfied < join.first && incoming.length > 0) return 'no satisfied edge';
  return condition !== null && !holds(reference, condition.source) ? 'condition' : null;
}

export function unhandledFailures(reference: Reference): ReferenceNode[] {
  const { plan } = reference.random;
  if (plan.onUnhandledFailure === 'continue') return [];
  return reference.nodes.filter((node, index) => {
    if (node.status !== 'Failed' && node.status !== 'TimedOut') return false;
    return !plan.nodes[index]!.outgoing.some((edge) => plan.edges[edge]!.when !== 'success' && reference.edges[edge]);
  });
}

/** A join has gone on without it. */
export function giveUp(
  reference: Reference,
  index: number,
  finish: (reference: Reference, index: number, status: NodeStatus) => void,
): void {
  const node = reference.nodes[index]!;
  if (isFinal(node.status)) return;
  if (node.status === 'Pending') node.skip = 'not needed';
  else node.lost = true;
  finish(reference, index, node.status === 'Pending' ? 'Skipped' : 'Cancelled');
}

/** The scripts' outputs have `ok` at the top level, or in the body like an HTTP step. */
export function saysOk({ outputs }: { outputs: unknown }): boolean {
  const { ok, body } = outputs as { ok?: boolean; body?: { ok?: boolean } };
  return ok === true || body?.ok === true;
}
