// What is open in an execution that another engine runs: the attempts to run, the children to wait for, and when something is due. It is
// read off the state and not off the facts of the last turn, so a repeated call gives the same answer, and nothing is lost between a
// commit and whoever acts on it.

import { allNodes, idOf, planNodeOf } from '../../core/decider/frame.ts';
import { nextDue } from '../../core/decider/next-due.ts';
import { type ExecutionStatus, isTerminal, type State } from '../../core/decider/state.ts';
import { taskQueueOf } from '../../core/plan/task-queue.ts';
import { nodeIndexOf, planNodeAt } from '../../core/plan/virtual-node.ts';
import type { ExternalTurn } from '../../store/external-port.ts';

export interface Open {
  /** Of two answers the one with the higher number is newer. */
  readonly seq: number;
  /** `Over`: at this epoch there is nothing to do any more. */
  readonly status: ExecutionStatus | 'Over';
  readonly attempts: readonly OpenAttempt[];
  readonly children: readonly OpenChild[];
  /** Milliseconds since the epoch. */
  readonly nextDueAt?: number;
  /** Tells every attempt to stop. */
  readonly stopping?: true;
  readonly ended?: true;
}

export interface OpenAttempt {
  readonly nodeId: string;
  readonly attempt: number;
  readonly taskQueue: string;
  /** Absent: it takes as long as it takes. */
  readonly timeoutMs?: number;
  readonly abort?: true;
}

export interface OpenChild {
  readonly nodeId: string;
  readonly executionId: string;
  readonly workflowId: string;
  /** Absent: whichever is the latest when the child starts. */
  readonly version?: number;
}

/** The execution has ended, was reopened under another epoch, or never was run outside. */
export const OVER: Open = { seq: Number.MAX_SAFE_INTEGER, status: 'Over', attempts: [], children: [], ended: true };

/**
 * `since`: the `seq` of an answer that the caller has acted on. What was open before it is not told again: in a fan-out of a thousand
 * nodes every answer would tell of all the others.
 */
export function openOf(state: State, environmentId: string, since = 0): Open {
  const { seq, status, stopping } = state;
  const attempts: OpenAttempt[] = [];
  const children: OpenChild[] = [];
  for (const [index, node] of allNodes(state)) {
    if (node.startedSeq < since) continue;
    const planNode = planNodeOf(state, index);
    const { step, policy } = planNode;
    const nodeId = idOf(state, index);
    if (step.kind === 'subworkflow') {
      const isOpen = (node.status === 'Waiting' || node.status === 'Running') && node.childId !== null;
      if (!isOpen) continue;
      const { workflowId, version } = step;
      children.push({ nodeId, executionId: node.childId!, workflowId, ...(version === null ? {} : { version }) });
    } else if (step.kind === 'action' && node.status === 'Running') {
      attempts.push({
        nodeId,
        attempt: node.attempts,
        taskQueue: taskQueueOf(planNode, environmentId),
        ...(policy.timeoutMs === null ? {} : { timeoutMs: policy.timeoutMs }),
        ...(stopping === null ? {} : { abort: true as const }),
      });
    }
  }
  const due = nextDue(state);
  return {
    seq,
    status,
    attempts,
    children,
    ...(due === null ? {} : { nextDueAt: due }),
    ...(stopping === null ? {} : { stopping: true as const }),
    ...(isTerminal(status) ? { ended: true as const } : {}),
  };
}

/** Whether the run that starts this child goes on to wait for it. */
export function isWaitedFor({ plan }: State, parentNode: string | null): boolean {
  const { step } = planNodeAt(plan, nodeIndexOf(plan, parentNode));
  return step.kind === 'subworkflow' && step.waitForCompletion;
}

/** For lists and operators, as a parked row says it: only what has nothing running sleeps or waits. */
export function waitOf(state: State): Pick<ExternalTurn, 'dueAt' | 'waits' | 'isPaused'> {
  const isPaused = state.status === 'Paused';
  let waiting = 0;
  for (const [, { status, loop }] of allNodes(state)) {
    if (status === 'Running') return { dueAt: null, waits: 0, isPaused };
    // A loop waits for its items, which are counted themselves.
    if (status === 'Waiting' && loop === null) waiting++;
  }
  return { dueAt: nextDue(state), waits: waiting + (isPaused ? 1 : 0), isPaused };
}
