// Builds a graph workflow whose references TypeScript checks: a node can refer only to the trigger and to nodes declared before
// it. The result is the same JSON as a definition written by hand.

import type {
  EventSource,
  ForEach,
  GraphBody,
  GraphDefinition,
  GraphEdge,
  GraphNode,
  NodePolicies,
  Repeat,
  Triggered,
} from './definition.ts';
import {
  type Empty,
  type Input,
  type ListRef,
  type LoopResult,
  member,
  plain,
  type Ref,
  refTo,
  type Shape,
  type WaitResult,
} from './reference.ts';

type Head<Waits extends string> = Omit<GraphDefinition, 'nodes' | 'startNode' | 'outputs' | 'finally'> & {
  /** Nodes that wait for a callback. Earlier nodes may use their URLs. */
  readonly waits?: readonly Waits[];
};

export interface Scope<Trigger, Data extends object, Waits extends string = never> {
  readonly trigger: Ref<Trigger>;
  /** The outputs of nodes, by id. */
  readonly data: { readonly [Id in keyof Data]: Ref<Data[Id]> };
  readonly vars: Ref<Record<string, unknown>>;
  readonly execution: Ref<{
    id: string;
    workflowId: string;
    version: number;
    tenantId: string;
    correlationId: string;
    startedAt: string;
  }>;
  readonly principal: Ref<{ userId: string; displayName: string; email: string | null }>;
  /** The callback URL, known before the wait begins. */
  readonly wait: { readonly [Id in Waits]: Ref<{ url: string }> };
}

/** The parts of a scope that one builder fixes. */
interface Known {
  readonly trigger: unknown;
  readonly waits: string;
  /** The names that a loop binds in its body. */
  readonly bound: object;
  /** Nodes around the body. The body can read them, but no edge leads from them into it. */
  readonly outer: object;
}

type ScopeOf<K extends Known, Data extends object, Bound extends object = Empty> = Scope<
  K['trigger'],
  K['outer'] & Data,
  K['waits']
> &
  K['bound'] &
  Bound;

type Params = Readonly<Record<string, Input>>;
type Of<Value, K extends Known, Data extends object, Bound extends object = Empty> =
  | Value
  | ((scope: ScopeOf<K, Data, Bound>) => Value);

/** The predecessor of a node: its id, or the id with properties of the edge. */
type After<K extends Known, Data extends object> =
  | (keyof Data & string)
  | {
      readonly node: keyof Data & string;
      readonly when?: GraphEdge['when'];
      readonly condition?: (scope: ScopeOf<K, Data>) => string;
      /** With `when: 'failure'`: the error codes that take this edge. */
      readonly codes?: GraphEdge['codes'];
    };

interface Placed<K extends Known, Data extends object> {
  /** Required for every node but the first. */
  readonly after?: After<K, Data> | readonly After<K, Data>[];
  readonly join?: GraphNode['join'];
  /** The node that runs if this one fails and no edge leads on. Declare it later, without `after`. */
  readonly onFailure?: string;
}

interface Common<K extends Known, Data extends object, Outputs, Bound extends object = Empty> extends Placed<K, Data> {
  readonly parameters?: Of<Params, K, Data, Bound>;
  readonly outputs?: Shape<Outputs>;
  readonly routePolicy?: GraphNode['routePolicy'];
  readonly policies?: NodePolicies;
  readonly connection?: string;
}

interface Child {
  readonly workflowId: string;
  readonly workflowVersion?: number;
  readonly waitForCompletion?: boolean;
}

type ActionNode<K extends Known, Data extends object, Outputs> = Common<K, Data, Outputs> & { readonly action: string };
type ChildNode<K extends Known, Data extends object, Outputs> = Common<K, Data, Outputs> & Child;

interface ChildResult<Outputs> {
  executionId: string;
  status: string;
  outputs: Outputs;
}

/** Ends the execution, with its outputs or with an error. */
interface EndNode<K extends Known, Data extends object> extends Placed<K, Data> {
  readonly outputs?: Of<Params, K, Data>;
  readonly error?: { readonly code: Input; readonly message?: Input };
}

/** The work of a loop: an action, a subworkflow, or a body of nodes. */
type Looped<K extends Known, Data extends object, Outputs, Bound extends object> = Common<K, Data, Outputs, Bound> &
  (
    | { readonly action: string }
    | Child
    | {
        readonly body: (
          body: BodyBuilder<BodyOf<K, Data, Bound>, Empty>,
        ) => BodyBuilder<BodyOf<K, Data, Bound>, object>;
      }
  );

type BodyOf<K extends Known, Data extends object, Bound extends object> = {
  trigger: K['trigger'];
  waits: K['waits'];
  outer: K['outer'] & Data;
  bound: Bound;
};

type ItemBound<Item> = { readonly item: Ref<Item>; readonly index: Ref<number> };
type RoundBound<Outputs> = {
  readonly round: Ref<number>;
  /** The result of the previous round; null in the first round, so use `??`: value`${previous.next} ?? ''`. */
  readonly previous: Ref<Outputs>;
};
type AfterRound<Outputs> = { readonly output: Ref<Outputs>; readonly round: Ref<number> };

type ForEachNode<K extends Known, Data extends object, Item, Outputs> = {
  readonly items: Of<ListRef<Item>, K, Data>;
} & Omit<ForEach, 'items'> &
  Looped<K, Data, Outputs, ItemBound<Item>>;

type RepeatNode<K extends Known, Data extends object, Outputs, Collected> = {
  readonly until: (scope: ScopeOf<K, Data, AfterRound<Outputs>>) => string;
  /** Gives a list after each round; the lists are joined as `collected`. */
  readonly collect?: (scope: ScopeOf<K, Data, AfterRound<Outputs>>) => ListRef<Collected>;
} & Omit<Repeat, 'until' | 'collect'> &
  Looped<K, Data, Outputs, RoundBound<Outputs>>;

interface WaitNode<K extends Known, Data extends object, Payload> extends Placed<K, Data> {
  readonly callback?: boolean;
  readonly events?: Of<readonly (Omit<EventSource, 'key'> & { readonly key?: Input })[], K, Data>;
  /** Without a timeout the wait has no end. */
  readonly timeoutMs?: number;
  readonly onTimeout?: GraphNode['onTimeout'];
  readonly count?: number;
  readonly until?: (scope: ScopeOf<K, Data, { events: Ref<{ by: string; data: Payload }[]> }>) => string;
  /** The type of the payload of a callback or an event. */
  readonly brings?: Shape<Payload>;
}

interface Draft {
  readonly head: Omit<GraphDefinition, 'nodes' | 'startNode' | 'outputs'>;
  readonly nodes: readonly GraphNode[];
  readonly outputs: GraphDefinition['outputs'];
}

type Fresh<Id extends string, Data extends object> = Id extends keyof Data ? never : Id;

export function workflow<const Waits extends string = never>(
  head: Head<Waits>,
): WorkflowBuilder<{ trigger: unknown; waits: Waits; bound: Empty; outer: Empty }, Empty> {
  const { waits: _named, ...rest } = head;
  return new WorkflowBuilder({ head: rest, nodes: [], outputs: undefined });
}

export class WorkflowBuilder<K extends Known, Data extends object> {
  private readonly draft: Draft;

  constructor(draft: Draft) {
    this.draft = draft;
  }

  /** Sets the type of the trigger payload. */
  trigger<Payload>(): WorkflowBuilder<Omit<K, 'trigger'> & { trigger: Payload }, Data> {
    return new WorkflowBuilder(this.draft);
  }

  node<Id extends string, Outputs = unknown>(
    id: Fresh<Id, Data>,
    options: ActionNode<K, Data, Outputs>,
  ): WorkflowBuilder<K, Data & Record<Id, Outputs>> {
    return this.with(id, stepOf(options), options);
  }

  subworkflow<Id extends string, Outputs = unknown>(
    id: Fresh<Id, Data>,
    options: ChildNode<K, Data, Outputs>,
  ): WorkflowBuilder<K, Data & Record<Id, ChildResult<Outputs>>> {
    return this.with(id, stepOf(options), options);
  }

  /** Runs an action, a subworkflow or a body for each item of a list. Declare `items` before fields that read `item`. */
  forEach<Id extends string, Item, Outputs = unknown>(
    id: Fresh<Id, Data>,
    options: ForEachNode<K, Data, Item, Outputs>,
  ): WorkflowBuilder<K, Data & Record<Id, LoopResult<Outputs>>> {
    const { items, parallel, maxItems, tolerate } = options;
    const forEach = { items: resolved(items), parallel, maxItems, tolerate };
    return this.with(id, { ...stepOf(options), forEach }, options);
  }

  /** Repeats an action, a subworkflow or a body until a condition holds. */
  repeat<Id extends string, Outputs = unknown, Collected = never>(
    id: Fresh<Id, Data>,
    options: RepeatNode<K, Data, Outputs, Collected>,
  ): WorkflowBuilder<K, Data & Record<Id, Outputs & { rounds: number; collected: Collected[] }>> {
    const { until, collect, maxRounds, delayMs, backoffFactor, maxDelayMs } = options;
    const often = { maxRounds, delayMs, backoffFactor, maxDelayMs };
    const repeat = { until: resolved(until), ...often, collect: resolved(collect) };
    return this.with(id, { ...stepOf(options), repeat }, options);
  }

  /** Waits for its callback, an event or its timeout, whichever comes first. */
  wait<Id extends string, Payload = unknown>(
    id: Fresh<Id, Data>,
    options: WaitNode<K, Data, Payload>,
  ): WorkflowBuilder<K, Data & Record<Id, WaitResult<Payload>>> {
    const { callback, events, timeoutMs, onTimeout, count, until, after, join } = options;
    const wait = { callback, events: resolved(events), timeoutMs, onTimeout, count, until: resolved(until) };
    return this.with(id, { nodeType: 'wait', ...wait }, { after, join } as Placed<K, Data>);
  }

  /** Ends the execution at once when it is reached; running nodes are cancelled. */
  end<Id extends string>(id: Fresh<Id, Data>, options: EndNode<K, Data>): WorkflowBuilder<K, Data> {
    const { outputs, error, after, join } = options;
    const ending = error === undefined ? { outputs: resolved(outputs) } : { status: 'Failed', error };
    return this.with(id, { nodeType: 'end', ...ending }, { after, join } as Placed<K, Data>);
  }

  /** Undoes the node `of` if that succeeded and the execution then fails, is cancelled or times out. */
  compensation<Id extends string>(
    id: Fresh<Id, Data>,
    { of, ...options }: Omit<ActionNode<K, Data, unknown>, 'after' | 'join'> & { readonly of: keyof Data & string },
  ): WorkflowBuilder<K, Data> {
    const { nodes } = this.draft;
    const undone = nodes.map((node) => (node.id === of ? { ...node, compensate: id } : node));
    return new WorkflowBuilder({ ...this.draft, nodes: [...undone, nodeOf(id, stepOf(options), options)] });
  }

  /** Runs at the end, whatever the outcome. Several run one after the other. */
  finally<Id extends string>(
    id: Fresh<Id, Data>,
    options: Omit<ActionNode<K, Data, unknown>, 'after' | 'join'>,
  ): WorkflowBuilder<K, Data> {
    const { head, nodes } = this.draft;
    const last = { ...head, finally: [...(head.finally ?? []), id] };
    return new WorkflowBuilder({ ...this.draft, head: last, nodes: [...nodes, nodeOf(id, stepOf(options), options)] });
  }

  /** The outputs of the execution, instead of those of its end nodes. */
  outputs(of: Of<Params, K, Data>): WorkflowBuilder<K, Data> {
    return new WorkflowBuilder({ ...this.draft, outputs: resolved(of) as Params });
  }

  build(): GraphDefinition & Triggered<K['trigger']> {
    const { head, nodes, outputs } = this.draft;
    const [first] = nodes;
    if (first === undefined) throw new TypeError(`workflow "${head.id}" has no nodes`);
    return plain({ ...head, startNode: first.id, outputs, nodes }) as GraphDefinition;
  }

  private with<Next extends object>(id: string, kind: object, options: Placed<K, Data>): WorkflowBuilder<K, Next> {
    return new WorkflowBuilder({ ...this.draft, nodes: added(this.draft.nodes, id, kind, options) });
  }
}

/** The nodes that a loop runs for each item or round. */
export class BodyBuilder<K extends Known, Data extends object> {
  private readonly made: Omit<GraphBody, 'startNode'>;

  constructor(made: Omit<GraphBody, 'startNode'>) {
    this.made = made;
  }

  node<Id extends string, Outputs = unknown>(
    id: Fresh<Id, Data & K['outer']>,
    options: ActionNode<K, Data, Outputs>,
  ): BodyBuilder<K, Data & Record<Id, Outputs>> {
    return new BodyBuilder({ ...this.made, nodes: added(this.made.nodes, id, stepOf(options), options) });
  }

  subworkflow<Id extends string, Outputs = unknown>(
    id: Fresh<Id, Data & K['outer']>,
    options: ChildNode<K, Data, Outputs>,
  ): BodyBuilder<K, Data & Record<Id, ChildResult<Outputs>>> {
    return new BodyBuilder({ ...this.made, nodes: added(this.made.nodes, id, stepOf(options), options) });
  }

  /** The outputs of an item or a round, instead of those of its last nodes. */
  outputs(of: Of<Params, K, Data>): BodyBuilder<K, Data> {
    return new BodyBuilder({ ...this.made, outputs: resolved(of) as Params });
  }

  build(): GraphBody {
    const [first] = this.made.nodes;
    if (first === undefined) throw new TypeError('the body of a loop has no nodes');
    return { startNode: first.id, ...this.made };
  }
}

type Step =
  | { readonly action: string }
  | Child
  | { readonly body: (body: BodyBuilder<never, Empty>) => BodyBuilder<never, object> };

function stepOf(step: object): object {
  const made = step as Step;
  if ('action' in made) return { actionType: made.action };
  if ('body' in made) return { body: made.body(new BodyBuilder({ nodes: [] })).build() };
  const { workflowId, workflowVersion, waitForCompletion } = made;
  return { nodeType: 'subworkflow', workflowId, workflowVersion, waitForCompletion };
}

function nodeOf(id: string, kind: object, options: object): GraphNode {
  const { parameters, routePolicy, policies, join, connection, onFailure } = options as Partial<
    Common<Known, object, unknown>
  >;
  return {
    id,
    ...kind,
    parameters: resolved(parameters),
    connection,
    routePolicy,
    policies,
    join,
    onFailure,
  } as GraphNode;
}

function added(nodes: readonly GraphNode[], id: string, kind: object, options: object): GraphNode[] {
  const { after = [] } = options as { after?: string | Edge | readonly (string | Edge)[] };
  const before = [after].flat().map((one) => (typeof one === 'string' ? { node: one } : (one as Edge)));
  const isRescue = nodes.some((node) => node.onFailure === id);
  if (nodes.length > 0 && before.length === 0 && !isRescue) {
    throw new TypeError(`node "${id}" would never run: say what it comes \`after\``);
  }
  return [...before.reduce((all, one) => connect(all, id, one), nodes), nodeOf(id, kind, options)];
}

type Edge = {
  readonly node: string;
  readonly when?: GraphEdge['when'] | undefined;
  readonly codes?: GraphEdge['codes'] | undefined;
  readonly condition?: (scope: never) => string;
};

function connect(nodes: readonly GraphNode[], targetNode: string, edge: Edge): readonly GraphNode[] {
  const { node: from, when, condition, codes } = edge;
  const connection = { targetNode, when, condition: resolved(condition), codes } as GraphEdge;
  return nodes.map((node) => (node.id === from ? { ...node, edges: [...(node.edges ?? []), connection] } : node));
}

/** All names that any place can read. The types say which of them a given place can read. */
const SCOPE = {
  trigger: refTo('trigger'),
  data: named('context.data'),
  vars: refTo('vars'),
  execution: refTo('execution'),
  principal: refTo('principal'),
  wait: named('wait'),
  item: refTo('item'),
  index: refTo('index'),
  round: refTo('round'),
  previous: refTo('previous?'),
  output: refTo('output'),
  events: refTo('events'),
};

function named(root: string): object {
  return new Proxy({}, { get: (_target, id) => refTo(member(root, String(id))) });
}

function resolved<Value>(of: Value | ((scope: never) => Value) | undefined): Value | undefined {
  return typeof of === 'function' ? (of as (scope: unknown) => Value)(SCOPE) : of;
}
