// What the driver must do once a transition is durable, derived from its facts (I2: nothing is done before). Commands carry all
// they need, so that a driver never has to look into the state.

import type { Json } from '../json/json.ts';
import type { Plan } from '../plan/plan.ts';
import { placeOf, planNodeAt } from '../plan/virtual-node.ts';
import type { Deciding } from './deciding.ts';
import type { EndStatus, Fact, NodeError, Subscription } from './fact.ts';
import { allNodes, idOf, nodeAt, planNodeOf } from './frame.ts';
import type { NodeState, State } from './state.ts';

export type Command =
  | {
      readonly type: 'runAction';
      readonly node: number;
      readonly attempt: number;
      readonly params: Json;
      readonly timeoutMs: number | null;
      /** The same for every attempt of the node until the execution is reopened (I7). */
      readonly idempotencyKey: string;
    }
  | {
      readonly type: 'startChild';
      readonly node: number;
      readonly attempt: number;
      readonly childId: string;
      readonly workflowId: string;
      readonly version: number | null;
      readonly trigger: Json;
    }
  | { readonly type: 'cancelChild'; readonly childId: string; readonly reason: string }
  | { readonly type: 'abort'; readonly node: number; readonly attempt: number }
  /** Events of these types and keys go to this node, from before its wait is durable. */
  | { readonly type: 'subscribe'; readonly node: number; readonly subscriptions: readonly Subscription[] }
  /** Compensation starts, and the stored execution shows it. */
  | { readonly type: 'noteUndo' }
  /** A compensation has failed, and a person has to look at it. */
  | { readonly type: 'deadLetter'; readonly node: number; readonly error: NodeError }
  | { readonly type: 'complete'; readonly status: EndStatus };

export function commandsOf(deciding: Deciding): Command[] {
  const commands: Command[] = [];
  for (const fact of deciding.facts) collect(commands, deciding, fact);
  return commands;
}

/** Also finds a virtual node whose item this very decision ended. */
function nodeOf({ state, ended }: Deciding, index: number): NodeState {
  return nodeAt(state, index) ?? ended!.get(index)!;
}

function collect(commands: Command[], deciding: Deciding, fact: Fact): void {
  const { state, inputs } = deciding;
  switch (fact.type) {
    case 'NodeStarted': {
      const params = inputs?.[idOf(state, fact.node)];
      const { status, loop } = nodeOf(deciding, fact.node);
      // An attempt that could not be rendered has ended in the same transition, so there is nothing to run.
      if (params !== undefined && loop === null && (status === 'Running' || status === 'Waiting')) {
        commands.push(startCommand(state, fact.node, params));
      }
      return;
    }
    case 'EventsAwaited':
      commands.push({ type: 'subscribe', node: fact.node, subscriptions: fact.subscriptions });
      return;
    case 'ExecutionCompensating':
      commands.push({ type: 'noteUndo' });
      return;
    case 'NodeFailed':
      return noteFailedUndo(commands, state, fact.node, fact.error);
    case 'NodeCancelled':
    case 'NodeTimedOut': {
      if (fact.type === 'NodeTimedOut') noteFailedUndo(commands, state, fact.node, fact.error);
      const { childId } = nodeOf(deciding, fact.node);
      if (childId !== null)
        commands.push({ type: 'cancelChild', childId, reason: `its parent: ${fact.error.message}` });
      else if ('lost' in fact) commands.push({ type: 'abort', node: fact.node, attempt: fact.attempt });
      return;
    }
    case 'ExecutionStopping':
      for (const [index, node] of allNodes(state)) {
        if (node.status === 'Running') commands.push({ type: 'abort', node: index, attempt: node.attempts });
      }
      return;
    case 'ExecutionSucceeded':
    case 'ExecutionFailed':
    case 'ExecutionCancelled':
    case 'ExecutionTimedOut':
      commands.push({ type: 'complete', status: fact.type.slice('Execution'.length) as EndStatus });
  }
}

function noteFailedUndo(commands: Command[], state: State, node: number, error: NodeError): void {
  if (node < state.nodes.length && state.plan.nodes[node]!.aside) commands.push({ type: 'deadLetter', node, error });
}

/** The command of the node's current attempt. A new owner repeats it after a crash (I7). */
export function startCommand(state: State, index: number, params: Json): Command {
  const planNode = planNodeOf(state, index);
  const { attempts: attempt, childId } = nodeAt(state, index)!;
  const { step } = planNode;
  if (step.kind === 'subworkflow') {
    const { workflowId, version } = step;
    return { type: 'startChild', node: index, attempt, childId: childId!, workflowId, version, trigger: params };
  }
  const { timeoutMs } = planNode.policy;
  return {
    type: 'runAction',
    node: index,
    attempt,
    params,
    timeoutMs,
    idempotencyKey: idempotencyKey(state, index),
  };
}

/** For an item or a round, with its index: `execution:node:3`, or `execution:node:3:inner`. */
function idempotencyKey({ plan, start, generation }: State, index: number): string {
  const key = `${start.executionId}:${keyInExecution(plan, index)}`;
  return generation === 0 ? key : `${key}:${generation}`;
}

function keyInExecution(plan: Plan, index: number): string {
  const place = placeOf(plan, index);
  const { id } = planNodeAt(plan, index);
  if (place === null) return id;
  const item = `${plan.nodes[place.owner]!.id}:${place.item}`;
  return place.body.isSingle ? item : `${item}:${id}`;
}
