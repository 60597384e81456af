// Builds plans for the decider's tests without the compilers of core/definition. A test of the decider must be able to state a
// plan that no format can express, and must not fail because of a compiler.

import { type Dialect, parseExpression } from '../expression/parse.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type {
  Condition,
  Format,
  Plan,
  PlanEdge,
  PlanNode,
  RetryPolicy,
  RetryRule,
  SnapshotPolicy,
  Step,
} from '../plan/plan.ts';
import { compileTemplate } from '../template/compile.ts';
import type { Template } from '../template/template.ts';
import type { ExecutionStart } from './state.ts';

export interface EdgeSpec {
  readonly to: string;
  readonly when?: PlanEdge['when'];
  readonly condition?: string;
  readonly codes?: readonly string[];
}

export interface NodeSpec {
  readonly id: string;
  readonly step?: Step;
  readonly parameters?: Json;
  readonly retry?: Partial<RetryPolicy>;
  readonly rerenderOnRetry?: boolean;
  readonly timeoutMs?: number;
  /** Graph: outgoing edges. */
  readonly edges?: readonly EdgeSpec[];
  readonly onFailure?: string;
  readonly routePolicy?: PlanNode['routePolicy'];
  /** Pipeline and execution plan: nodes that must be terminal first. */
  readonly needs?: readonly string[];
  /** Pipeline `if`, execution plan `when`. */
  readonly condition?: string;
  readonly retain?: boolean;
  readonly join?: PlanNode['join'];
  readonly rules?: readonly RetryRule[];
}

export interface PlanSpec {
  readonly format: Format;
  readonly nodes: readonly NodeSpec[];
  readonly timeoutMs?: number | null;
  readonly outputs?: Json;
  readonly vars?: JsonObject;
  readonly snapshot?: Partial<SnapshotPolicy>;
}

const ROOTS: Record<Format, readonly string[]> = {
  graph: ['trigger', 'context', 'vars', 'spec', 'execution', 'principal', 'attempt'],
  pipeline: ['trigger', 'tasks', 'wait'],
  plan: ['inputs', 'steps', 'scope'],
};

const UNHANDLED: Record<Format, Plan['onUnhandledFailure']> = {
  graph: 'failFast',
  pipeline: 'continue',
  plan: 'drain',
};

/** Retries are quick and without jitter unless a test asks for it, so that times are exact. */
const RETRY: RetryPolicy = { maxAttempts: 1, baseDelayMs: 100, backoffFactor: 2, maxDelayMs: null, jitter: false };

export const START: ExecutionStart = {
  executionId: '0190a000-0000-7000-8000-000000000001',
  tenantId: 'tenant',
  workflowId: 'workflow',
  version: 1,
  trigger: { value: 7, go: true },
  principal: { userId: 'user' },
  correlationId: 'correlation',
  callbackUrls: {},
};

export function buildPlan(spec: PlanSpec): Plan {
  const indexOf = new Map(spec.nodes.map((node, index) => [node.id, index]));
  const edges = spec.format === 'graph' ? graphEdges(spec, indexOf) : needEdges(spec, indexOf);
  const nodes = spec.nodes.map((node, index) => buildNode(spec.format, node, index, edges));
  return {
    planVersion: 1,
    ...(spec.format === 'graph' ? { readsAttempt: true as const } : {}),
    format: spec.format,
    id: 'workflow',
    nodes,
    edges,
    start: nodes.flatMap((node, index) => (node.incoming.length === 0 ? [index] : [])),
    onUnhandledFailure: UNHANDLED[spec.format],
    timeoutMs: spec.timeoutMs ?? null,
    outputs: spec.outputs === undefined ? null : template(spec.format, spec.outputs),
    vars: spec.vars ?? {},
    scope: {},
    snapshot: {
      mode: 'Full',
      keysToInclude: [],
      maxContextSizeBytes: 10 * 1024 * 1024,
      overflowBehavior: 'Fail',
      ...spec.snapshot,
    },
    checksum: 'not-a-checksum',
    namedVersion: null,
  };
}

function graphEdges(spec: PlanSpec, indexOf: ReadonlyMap<string, number>): PlanEdge[] {
  return spec.nodes.flatMap((node, from) => {
    const explicit = (node.edges ?? []).map((edge) => ({
      from,
      to: indexOf.get(edge.to)!,
      when: edge.when ?? 'success',
      condition: edge.condition === undefined ? null : condition('graph', edge.condition),
      implicit: false,
      ...(edge.codes === undefined ? {} : { codes: edge.codes }),
    }));
    if (node.onFailure === undefined) return explicit;
    const to = indexOf.get(node.onFailure)!;
    return [...explicit, { from, to, when: 'failure' as const, condition: null, implicit: true }];
  });
}

function needEdges(spec: PlanSpec, indexOf: ReadonlyMap<string, number>): PlanEdge[] {
  return spec.nodes.flatMap((node, to) =>
    (node.needs ?? []).map((need) => ({
      from: indexOf.get(need)!,
      to,
      when: 'success' as const,
      condition: null,
      implicit: false,
    })),
  );
}

function buildNode(format: Format, spec: NodeSpec, index: number, edges: readonly PlanEdge[]): PlanNode {
  const step = spec.step ?? { kind: 'action', actionType: 'core.echo' };
  const hasParameters = step.kind === 'action' || step.kind === 'subworkflow' || step.kind === 'end';
  return {
    id: spec.id,
    step,
    parameters: hasParameters && spec.parameters !== undefined ? template(format, spec.parameters) : null,
    policy: {
      timeoutMs: spec.timeoutMs ?? null,
      rerenderOnRetry: spec.rerenderOnRetry ?? false,
      retry: { ...RETRY, ...spec.retry },
      ...(spec.rules === undefined ? {} : { rules: spec.rules }),
    },
    join: spec.join ?? joinOf(format, spec),
    condition: spec.condition === undefined ? null : condition(format, spec.condition),
    routePolicy: spec.routePolicy ?? 'parallel',
    incoming: edges.flatMap((edge, at) => (edge.to === index ? [at] : [])),
    outgoing: edges.flatMap((edge, at) => (edge.from === index ? [at] : [])),
    retain: spec.retain ?? true,
    dispatch: null,
  };
}

function joinOf(format: Format, spec: NodeSpec): PlanNode['join'] {
  if (format === 'graph') return 'any';
  return format === 'pipeline' && spec.condition !== undefined ? 'resolved' : 'all';
}

function dialectOf(format: Format): Dialect {
  return format === 'pipeline' ? 'pipeline' : 'javascript';
}

function condition(format: Format, source: string): Condition {
  const parsed = parseExpression(source, { roots: ROOTS[format], dialect: dialectOf(format) });
  if (!parsed.ok) throw new Error(`test condition ${source}: ${parsed.problems[0]?.message}`);
  return { source, expr: parsed.expr };
}

export function template(format: Format, value: Json): Template {
  const compiled = compileTemplate(value, { roots: ROOTS[format], dialect: dialectOf(format) });
  if (!compiled.ok) throw new Error(`test template ${JSON.stringify(value)}: ${compiled.problems[0]?.message}`);
  return compiled.template;
}
