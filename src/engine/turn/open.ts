// The open work of an execution on another engine: attempts to run, children to wait for, and the next due time. It is derived
// from the state, not from the facts of the last turn, so a repeated call gives the same answer, and nothing is lost between a
// commit and the engine.

import { allNodes, idOf, planNodeOf } from '../../core/decider/frame.ts';
import { nextDue } from '../../core/decider/next-due.ts';
import { type ExecutionStatus, isTerminal, type State } from '../../core/decider/state.ts';
import { taskQueueOf } from '../../core/plan/task-queue.ts';
import { nodeIndexOf, planNodeAt } from '../../core/plan/virtual-node.ts';
import type { ExternalTurn } from '../../store/external-port.ts';

export interface Open {
  /** The answer with the higher number is newer. */
  readonly seq: number;
  /** `Over`: nothing is left to do at this epoch. */
  readonly status: ExecutionStatus | 'Over';
  readonly attempts: readonly OpenAttempt[];
  readonly children: readonly OpenChild[];
  /** Milliseconds since the epoch. */
  readonly nextDueAt?: number;
  /** Aborts every attempt. */
  readonly stopping?: true;
  readonly ended?: true;
}

export interface OpenAttempt {
  readonly nodeId: string;
  readonly attempt: number;
  readonly taskQueue: string;
  /** Absent: no timeout. */
  readonly timeoutMs?: number;
  readonly abort?: true;
}

export interface OpenChild {
  readonly nodeId: string;
  readonly executionId: string;
  readonly workflowId: string;
  /** Absent: the latest when the child starts. */
  readonly version?: number;
}

/** The execution has ended, was reopened under another epoch, or never ran outside. */
export const OVER: Open = { seq: Number.MAX_SAFE_INTEGER, status: 'Over', attempts: [], children: [], ended: true };

/**
 * `since`: the `seq` of an answer that the caller has acted on. Work that was open before is not repeated; otherwise every
 * answer in a fan-out of a thousand nodes would list all others.
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

/** Whether the run that starts this child waits for it. */
export function isWaitedFor({ plan }: State, parentNode: string | null): boolean {
  const { step } = planNodeAt(plan, nodeIndexOf(plan, parentNode));
  return step.kind === 'subworkflow' && step.waitForCompletion;
}

/** For lists and operators, in the terms of a parked row: only an execution without running attempts sleeps or waits. */
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
