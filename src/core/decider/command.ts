// What the driver must do once a transition is durable, read off its facts (I2: nothing is done before). Commands carry
// all they need, so that a driver never has to look into the state.

import type { Json } from '../json/json.ts';
import type { Deciding } from './deciding.ts';
import type { EndStatus, Fact } from './fact.ts';
import type { State } from './state.ts';

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
  | { readonly type: 'cancelChild'; readonly childId: string }
  | { readonly type: 'abort'; readonly node: number; readonly attempt: number }
  | { readonly type: 'complete'; readonly status: EndStatus };

export function commandsOf({ state, facts, inputs }: Deciding): Command[] {
  const commands: Command[] = [];
  for (const fact of facts) collect(commands, state, fact, inputs);
  return commands;
}

function collect(commands: Command[], state: State, fact: Fact, inputs: Deciding['inputs']): void {
  switch (fact.type) {
    case 'NodeStarted': {
      const params = inputs?.[state.plan.nodes[fact.node]!.id];
      const { status } = state.nodes[fact.node]!;
      // An attempt that could not be rendered has ended in the same transition: nothing to run.
      if (params !== undefined && (status === 'Running' || status === 'Waiting')) {
        commands.push(startCommand(state, fact.node, params));
      }
      return;
    }
    case 'NodeCancelled':
    case 'NodeTimedOut': {
      const { childId } = state.nodes[fact.node]!;
      if (childId !== null) commands.push({ type: 'cancelChild', childId });
      return;
    }
    case 'ExecutionStopping':
      state.nodes.forEach((node, index) => {
        if (node.status === 'Running') commands.push({ type: 'abort', node: index, attempt: node.attempts });
      });
      return;
    case 'ExecutionSucceeded':
    case 'ExecutionFailed':
    case 'ExecutionCancelled':
    case 'ExecutionTimedOut':
      commands.push({ type: 'complete', status: fact.type.slice('Execution'.length) as EndStatus });
  }
}

/** The command of the node's current attempt; also what a new owner of the execution repeats after a crash (I7). */
export function startCommand(state: State, index: number, params: Json): Command {
  const planNode = state.plan.nodes[index]!;
  const { attempts: attempt, childId } = state.nodes[index]!;
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
    idempotencyKey: idempotencyKey(state, planNode.id),
  };
}

function idempotencyKey({ start, generation }: State, nodeId: string): string {
  return generation === 0 ? `${start.executionId}:${nodeId}` : `${start.executionId}:${nodeId}:${generation}`;
}
