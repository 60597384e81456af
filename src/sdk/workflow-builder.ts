// Builds a graph workflow whose references TypeScript checks: a node can refer to the trigger and to nodes declared before it,
// and to nothing else. What it builds is the same JSON as a definition that was written by hand.

import type { GraphDefinition, GraphEdge, GraphNode, NodePolicies } from './definition.ts';
import { type Input, member, plain, type Ref, refTo, type Shape } from './reference.ts';

type Head = Omit<GraphDefinition, 'nodes' | 'startNode' | 'outputs'>;

export interface Scope<Trigger, Data extends object> {
  readonly trigger: Ref<Trigger>;
  /** The outputs of nodes, by their id. */
  readonly data: { readonly [Id in keyof Data]: Ref<Data[Id]> };
  readonly vars: Ref<Record<string, unknown>>;
  readonly execution: Ref<{ executionId: string; workflowId: string; version: number; correlationId: string }>;
  readonly principal: Ref<{ userId: string; displayName: string; email: string | null }>;
}

type Params = Readonly<Record<string, Input>>;
type ParamsOf<Trigger, Data extends object> = Params | ((scope: Scope<Trigger, Data>) => Params);

/** Where a node comes after: a node's id, or more about the edge from it. */
type After<Trigger, Data extends object> =
  | (keyof Data & string)
  | {
      readonly node: keyof Data & string;
      readonly when?: GraphEdge['when'];
      readonly condition?: (scope: Scope<Trigger, Data>) => string;
      /** With `when: 'failure'`: the errors that this edge is for. */
      readonly codes?: GraphEdge['codes'];
    };

interface Common<Trigger, Data extends object, Outputs> {
  readonly parameters?: ParamsOf<Trigger, Data>;
  readonly outputs?: Shape<Outputs>;
  /** Every node but the first has at least one. */
  readonly after?: After<Trigger, Data> | readonly After<Trigger, Data>[];
  readonly routePolicy?: GraphNode['routePolicy'];
  readonly policies?: NodePolicies;
  readonly join?: GraphNode['join'];
}

/** Ends the execution, with its outputs or with an error. */
export interface EndNode<Trigger, Data extends object> extends Pick<Common<Trigger, Data, unknown>, 'after' | 'join'> {
  readonly outputs?: ParamsOf<Trigger, Data>;
  readonly error?: { readonly code: Input; readonly message?: Input };
}

export interface ActionNode<Trigger, Data extends object, Outputs> extends Common<Trigger, Data, Outputs> {
  readonly action: string;
}

export interface ChildNode<Trigger, Data extends object, Outputs> extends Common<Trigger, Data, Outputs> {
  readonly workflowId: string;
  readonly workflowVersion?: number;
  readonly waitForCompletion?: boolean;
}

interface Draft {
  readonly head: Head;
  readonly nodes: readonly GraphNode[];
  readonly outputs: GraphDefinition['outputs'];
}

export function workflow(head: Head): WorkflowBuilder<unknown, object> {
  return new WorkflowBuilder({ head, nodes: [], outputs: undefined });
}

export class WorkflowBuilder<Trigger, Data extends object> {
  private readonly draft: Draft;

  constructor(draft: Draft) {
    this.draft = draft;
  }

  /** What starts it brings this. */
  trigger<Payload>(): WorkflowBuilder<Payload, Data> {
    return new WorkflowBuilder(this.draft);
  }

  node<Id extends string, Outputs = unknown>(
    id: Id extends keyof Data ? never : Id,
    { action, ...options }: ActionNode<Trigger, Data, Outputs>,
  ): WorkflowBuilder<Trigger, Data & Record<Id, Outputs>> {
    return this.with(id, { actionType: action }, options);
  }

  subworkflow<Id extends string, Outputs = unknown>(
    id: Id extends keyof Data ? never : Id,
    { workflowId, workflowVersion, waitForCompletion, ...options }: ChildNode<Trigger, Data, Outputs>,
  ): WorkflowBuilder<Trigger, Data & Record<Id, { executionId: string; status: string; outputs: Outputs }>> {
    const child = { nodeType: 'subworkflow' as const, workflowId, workflowVersion, waitForCompletion };
    return this.with(id, child, options);
  }

  /** Reached, it ends the execution at once: what still runs is cancelled. */
  end<Id extends string>(
    id: Id extends keyof Data ? never : Id,
    { outputs, error, ...options }: EndNode<Trigger, Data>,
  ): WorkflowBuilder<Trigger, Data> {
    const ending = error === undefined ? { outputs: rendered(outputs) } : { status: 'Failed' as const, error };
    return this.with(id, { nodeType: 'end' as const, ...ending }, options);
  }

  /** What the execution returns, instead of the outputs of its end nodes. */
  outputs(of: ParamsOf<Trigger, Data>): WorkflowBuilder<Trigger, Data> {
    return new WorkflowBuilder({ ...this.draft, outputs: rendered(of) });
  }

  build(): GraphDefinition {
    const { head, nodes, outputs } = this.draft;
    const [first] = nodes;
    if (first === undefined) throw new TypeError(`workflow "${head.id}" has no nodes`);
    return plain({ ...head, startNode: first.id, outputs, nodes }) as GraphDefinition;
  }

  private with<Next extends object>(
    id: string,
    kind: object,
    { parameters, after = [], routePolicy, policies, join }: Common<Trigger, Data, unknown>,
  ): WorkflowBuilder<Trigger, Next> {
    const { nodes } = this.draft;
    const before = ([after].flat() as After<Trigger, Data>[]).map((one) =>
      typeof one === 'string' ? { node: one } : one,
    );
    if (nodes.length > 0 && before.length === 0) {
      throw new TypeError(`node "${id}" would never run: say what it comes \`after\``);
    }
    const node = { id, ...kind, parameters: rendered(parameters), routePolicy, policies, join } as GraphNode;
    const connected = before.reduce((all, one) => connect(all, id, one), nodes);
    return new WorkflowBuilder({ ...this.draft, nodes: [...connected, node] });
  }
}

type Edge = {
  readonly node: string;
  readonly when?: GraphEdge['when'] | undefined;
  readonly codes?: GraphEdge['codes'] | undefined;
  readonly condition?: (scope: never) => string;
};

function connect(nodes: readonly GraphNode[], targetNode: string, edge: Edge): GraphNode[] {
  const { node: from, when, condition, codes } = edge;
  const connection = { targetNode, when, condition: condition?.(scope() as never), codes } as GraphEdge;
  return nodes.map((node) => (node.id === from ? { ...node, edges: [...(node.edges ?? []), connection] } : node));
}

function rendered<Trigger, Data extends object>(of: ParamsOf<Trigger, Data> | undefined): Params | undefined {
  return typeof of === 'function' ? of(scope()) : of;
}

function scope<Trigger, Data extends object>(): Scope<Trigger, Data> {
  const data = new Proxy({} as Scope<Trigger, Data>['data'], {
    get: (_target, id) => refTo(member('context.data', String(id))),
  });
  return {
    trigger: refTo('trigger'),
    data,
    vars: refTo('vars'),
    execution: refTo('execution'),
    principal: refTo('principal'),
  };
}
