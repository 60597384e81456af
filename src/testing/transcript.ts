// The result of a workflow test, node by node, read from the facts.

import type { Fact, Transition } from '../core/decider/fact.ts';
import { idOf } from '../core/decider/frame.ts';
import type { NodeStatus, State } from '../core/decider/state.ts';
import type { Json } from '../core/json/json.ts';

export interface TestedNode {
  readonly status: NodeStatus;
  readonly attempts: number;
  /** The rendered parameters of the last attempt; of a subworkflow its trigger. */
  readonly parameters?: Json;
  readonly outputs?: Json;
  readonly error?: { readonly code: string; readonly message: string };
  /** The reason of a skip. */
  readonly reason?: string;
}

export interface TestedWorkflow {
  readonly status: 'Succeeded' | 'Failed' | 'Cancelled' | 'TimedOut';
  readonly outputs?: Json;
  readonly error?: { readonly code: string; readonly message: string; readonly nodeId?: string };
  /** By id. Items of a loop are there too: `ship[2]`, `ship[2].charge`. */
  readonly nodes: Readonly<Record<string, TestedNode>>;
  /** Time on the test's clock: sleeps, retries and timeouts took this long. */
  readonly elapsedMs: number;
}

type Noted = { -readonly [Key in keyof TestedNode]: TestedNode[Key] };

export class Transcript {
  private readonly state: State;
  private readonly nodes = new Map<string, Noted>();

  constructor(state: State) {
    this.state = state;
    for (const { id } of state.plan.nodes) this.node(id);
  }

  note({ facts, inputs = {} }: Transition): void {
    for (const [id, parameters] of Object.entries(inputs)) this.node(id).parameters = parameters;
    for (const fact of facts)
      if ('node' in fact && fact.node !== undefined) this.noteFact(fact, this.node(idOf(this.state, fact.node)));
  }

  private noteFact(fact: Fact, node: Noted): void {
    switch (fact.type) {
      case 'NodeStarted':
        node.attempts = fact.attempt;
        node.status = 'Running';
        delete node.error;
        return;
      case 'NodeSucceeded':
        node.status = 'Succeeded';
        node.outputs = fact.outputs;
        return;
      case 'NodeFailed':
      case 'NodeTimedOut':
      case 'NodeCancelled': {
        const { code, message } = fact.error;
        node.status = fact.type.slice('Node'.length) as NodeStatus;
        node.error = { code, message };
        return;
      }
      case 'NodeSkipped':
        node.status = 'Skipped';
        node.reason = fact.reason;
    }
  }

  private node(id: string): Noted {
    const found = this.nodes.get(id) ?? { status: 'Pending', attempts: 0 };
    this.nodes.set(id, found);
    return found;
  }

  result(elapsedMs: number): TestedWorkflow {
    const { status, outputs, error } = this.state;
    return {
      status: status as TestedWorkflow['status'],
      ...(outputs === undefined ? {} : { outputs }),
      ...(error === null ? {} : { error }),
      nodes: Object.fromEntries(this.nodes),
      elapsedMs,
    };
  }
}
