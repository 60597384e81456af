// A definition as nodes and edges, as far as it makes sense: for the picture beside the text, also while it has problems.

import { asideEdges } from './aside.ts';

export interface DefinitionNode {
  readonly id: string;
  readonly type: string;
  /** Where it stands in the definition, as a JSON pointer. */
  readonly pointer: string;
  readonly parameters?: unknown;
}

export interface DefinitionEdge {
  readonly from: string;
  readonly to: string;
  readonly when: string;
  readonly condition?: string;
  /** Leads to what undoes a node or cleans up at last: no edge of the plan. */
  readonly isAside?: boolean;
}

export interface DefinitionGraph {
  readonly nodes: readonly DefinitionNode[];
  readonly edges: readonly DefinitionEdge[];
}

type Fields = Readonly<Record<string, unknown>>;

const NOTHING: DefinitionGraph = { nodes: [], edges: [] };

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function graphOfDefinition(definition: unknown): DefinitionGraph {
  if (!isObject(definition)) return NOTHING;
  const graph = Array.isArray(definition.nodes)
    ? graphNodes(definition.nodes)
    : isObject(definition.tasks)
      ? pipelineTasks(definition.tasks)
      : Array.isArray(definition.steps)
        ? planSteps(definition.steps)
        : NOTHING;
  const known = new Map(graph.nodes.map((node) => [node.id, node]));
  const asides = asidesOf(definition);
  const nodes = [...known.values()];
  const drawn = [
    ...graph.edges,
    ...asideEdges(
      nodes.map(({ id }) => ({ id, ...asides.get(id) })),
      graph.edges,
    ),
  ];
  return { nodes, edges: drawn.filter(({ from, to }) => known.has(from) && known.has(to)) };
}

/** Nodes that run at the end only, and why. */
function asidesOf({ nodes, finally: last }: Fields): ReadonlyMap<string, { undoes?: string; isFinally?: true }> {
  const asides = new Map<string, { undoes?: string; isFinally?: true }>();
  for (const { id, compensate } of Array.isArray(nodes) ? nodes.filter(isObject) : []) {
    if (typeof compensate === 'string') asides.set(compensate, { undoes: String(id) });
  }
  for (const id of textsOf(last)) asides.set(id, { isFinally: true });
  return asides;
}

/** The things that end a wait: its callback, and events by their types. */
function waitText({ events }: Fields, hasCallback: boolean): string {
  const types = (Array.isArray(events) ? events : []).filter(isObject).map(({ type }) => String(type));
  const things = [...(hasCallback ? ['callback'] : []), ...new Set(types)];
  return things.length === 0 ? 'wait' : `wait for ${things.join(' or ')}`;
}

function nodeTypeOf(node: Fields): string {
  const { nodeType, actionType, workflowId, body, forEach, repeat } = node;
  if (nodeType === 'wait') return waitText(node, node.callback === true);
  const inner = isObject(body) && Array.isArray(body.nodes) ? body.nodes.filter(isObject) : [];
  const own = actionType ?? workflowId ?? nodeType ?? inner.map(({ id }) => String(id)).join(', ');
  if (forEach !== undefined) return `for each: ${String(own)}`;
  return repeat === undefined ? String(own) : `repeat: ${String(own)}`;
}

function graphNodes(list: readonly unknown[]): DefinitionGraph {
  const nodes: DefinitionNode[] = [];
  const edges: DefinitionEdge[] = [];
  for (const [index, node] of list.entries()) {
    if (!isObject(node) || typeof node.id !== 'string') continue;
    nodes.push({
      id: node.id,
      type: nodeTypeOf(node),
      pointer: `/nodes/${index}`,
      parameters: node.parameters,
    });
    for (const edge of Array.isArray(node.edges) ? node.edges : []) {
      if (isObject(edge)) edges.push(edgeOf(node.id, String(edge.targetNode), edge.when ?? 'success', edge.condition));
    }
    if (typeof node.onFailure === 'string') edges.push(edgeOf(node.id, node.onFailure, 'failure', undefined));
  }
  return { nodes, edges };
}

function edgeOf(from: string, to: string, when: unknown, condition: unknown): DefinitionEdge {
  return { from, to, when: String(when), ...(typeof condition === 'string' ? { condition } : {}) };
}

function pipelineTasks(tasks: Fields): DefinitionGraph {
  const nodes: DefinitionNode[] = [];
  const edges: DefinitionEdge[] = [];
  for (const [id, task] of Object.entries(tasks)) {
    if (!isObject(task)) continue;
    nodes.push({
      id,
      type: taskType(task),
      pointer: `/tasks/${id.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      parameters: task,
    });
    for (const need of textsOf(isObject(task.needs) ? task.needs.of : task.needs))
      edges.push(edgeOf(need, id, task.if === undefined ? 'success' : 'always', task.if));
  }
  return { nodes, edges };
}

function taskType(task: Fields): string {
  if (task.sleep !== undefined) return 'sleep';
  if (task.wait_for_webhook !== undefined) return 'wait for webhook';
  if (isObject(task.wait_for)) return waitText(task.wait_for, task.wait_for.webhook === true);
  if (task.end !== undefined) return 'end';
  if (typeof task.url !== 'string') return 'task';
  const loop = task.for_each === undefined ? (task.until === undefined ? '' : 'repeat: ') : 'for each: ';
  return `${loop}${String(task.method ?? 'POST')} ${task.url}`;
}

function planSteps(steps: readonly unknown[]): DefinitionGraph {
  const nodes: DefinitionNode[] = [];
  const edges: DefinitionEdge[] = [];
  for (const [index, step] of steps.entries()) {
    const id = isObject(step) ? (step.stepId ?? step.id) : undefined;
    if (!isObject(step) || typeof id !== 'string') continue;
    nodes.push({
      id,
      type: String(step.type ?? step.stepType ?? ''),
      pointer: `/steps/${index}`,
      parameters: step.params ?? step.inputs,
    });
    for (const need of textsOf(step.dependsOn)) edges.push(edgeOf(need, id, 'success', step.when));
  }
  return { nodes, edges };
}

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];

/** Nodes that a problem lies in. */
export function wrongNodes(
  graph: DefinitionGraph,
  problems: readonly { readonly path: string }[],
): ReadonlySet<string> {
  return new Set(
    graph.nodes
      .filter(({ pointer }) => problems.some(({ path }) => path === pointer || path.startsWith(`${pointer}/`)))
      .map(({ id }) => id),
  );
}

/** The name that a click on a suggestion inserts; null: it is advice, not a name. */
export function fixOf({
  code,
  suggestion = '',
}: {
  readonly code: string;
  readonly suggestion?: string | undefined;
}): { readonly name: string; readonly where: 'key' | 'value' } | null {
  const name = /^did you mean `([^`]+)`\?$/.exec(suggestion)?.[1];
  if (name === undefined) return null;
  return { name, where: code === 'UNKNOWN_KEY' ? 'key' : 'value' };
}
