// Starts one attempt of a node, for every kind of step. Parameters are rendered here, purely, and recorded with the transition; a
// retry reuses them unless the policy says otherwise. A template that cannot be rendered fails that attempt without an exception
// or a retry: the same template would fail again.

import { parseDuration } from '../duration/duration.ts';
import { childExecutionId } from '../id/id.ts';
import { emptyRecord, isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import type { Format, PlanNode, Step } from '../plan/plan.ts';
import { TemplateError } from '../template/render.ts';
import { type Deciding, emit, lookAtLoop, parameterRefusal, spendOnParameters } from './deciding.ts';
import { frameOf, idOf, nodeAt, planNodeOf } from './frame.ts';
import { failAttempt, receiveCallback, succeedAttempt } from './outcome.ts';
import { render } from './render.ts';
import type { NodeState, State } from './state.ts';
import { startWait } from './waiting.ts';

export function startNode(deciding: Deciding, index: number): void {
  const planNode = planNodeOf(deciding.state, index);
  const attempt = nodeAt(deciding.state, index)!.attempts + 1;
  const { step } = planNode;
  switch (step.kind) {
    case 'action':
    case 'subworkflow':
      return startWithParameters(deciding, index, attempt, planNode);
    case 'sleep':
      return startSleep(deciding, index, attempt, step);
    case 'webhook': {
      const until = step.timeoutMs === null ? null : deciding.now + step.timeoutMs;
      const { early } = nodeAt(deciding.state, index)!;
      emit(deciding, { type: 'NodeWaiting', node: index, attempt, kind: 'webhook', until });
      if (early !== null) receiveCallback(deciding, index, early);
      return;
    }
    case 'wait':
      return startWait(deciding, index, attempt, step);
    case 'end':
      return reachEnd(deciding, index, attempt, planNode);
    case 'forEach':
      return startForEach(deciding, index, attempt, step);
    case 'repeat':
      emit(deciding, { type: 'NodeStarted', node: index, attempt });
      emit(deciding, { type: 'NodeWaiting', node: index, attempt, kind: 'rounds', until: null });
      lookAtLoop(deciding, index);
      return;
  }
}

/** The list is rendered once and recorded: these are the items, whatever changes later (I15). */
function startForEach(
  deciding: Deciding,
  index: number,
  attempt: number,
  step: Extract<Step, { kind: 'forEach' }>,
): void {
  const node = deciding.state.nodes[index]!;
  const known = node.loop === null ? undefined : (node.params as { items: Json[] } | undefined)?.items;
  const items = known ?? render(deciding, index, step.items);
  if (items instanceof TemplateError) return failToRender(deciding, index, attempt, items);
  const problem = itemsProblem(items, step.body.limit, deciding.state.plan.format);
  if (problem !== null) {
    emit(deciding, { type: 'NodeStarted', node: index, attempt });
    return failAttempt(deciding, index, { error: problem, retryable: false });
  }
  const params = { items };
  let rendered = {};
  if (known === undefined) {
    const bytes = spendOnParameters(deciding, items);
    const refusal = parameterRefusal(deciding, bytes);
    if (refusal !== null) return failTooLarge(deciding, index, attempt, refusal);
    deciding.inputs ??= emptyRecord<Json>();
    deciding.inputs[idOf(deciding.state, index)] = params;
    rendered = renderedNow(bytes);
  }
  emit(deciding, { type: 'NodeStarted', node: index, attempt, ...rendered }, params);
  const count = (items as Json[]).length;
  emit(deciding, { type: 'NodeWaiting', node: index, attempt, kind: 'items', until: null, count });
  lookAtLoop(deciding, index);
}

function itemsProblem(items: Json, limit: number, format: Format): { code: string; message: string } | null {
  if (!Array.isArray(items))
    return { code: 'NOT_A_LIST', message: `forEach needs a list of items, not ${typeOf(items)}` };
  if (items.length <= limit) return null;
  const option = format === 'pipeline' ? 'max_items' : 'maxItems';
  return {
    code: 'TOO_MANY_ITEMS',
    message: `there are ${items.length} items; at most ${limit} are allowed (${option})`,
  };
}

const typeOf = (value: Json): string => (value === null ? 'null' : `a value of type ${typeof value}`);

/** The error of the execution is recorded here; stopping.ts does the rest. */
function reachEnd(deciding: Deciding, index: number, attempt: number, { parameters }: PlanNode): void {
  const outputs = render(deciding, index, parameters);
  if (outputs instanceof TemplateError) return failToRender(deciding, index, attempt, outputs);
  emit(deciding, { type: 'NodeStarted', node: index, attempt });
  succeedAttempt(deciding, index, { outputs });
}

function startWithParameters(deciding: Deciding, index: number, attempt: number, planNode: PlanNode): void {
  const { state } = deciding;
  const node = nodeAt(state, index)!;
  const nodeId = idOf(state, index);
  const reused = reusableParameters(node, planNode);
  const base = reused ?? renderUnpatched(deciding, index, planNode.parameters);
  if (base instanceof TemplateError) return failToRender(deciding, index, attempt, base);
  const params = patched(state, index, node, base);
  const bytes = spendOnParameters(deciding, params);
  const refusal = reused === undefined ? parameterRefusal(deciding, bytes) : null;
  if (refusal !== null) return failTooLarge(deciding, index, attempt, refusal);
  deciding.inputs ??= emptyRecord<Json>();
  deciding.inputs[nodeId] = params;
  const { executionId } = state.start;
  const child =
    planNode.step.kind === 'subworkflow'
      ? { childId: childExecutionId(deciding.now, executionId, nodeId, attempt) }
      : {};
  const rendered = reused === undefined ? renderedNow(bytes) : {};
  emit(deciding, { type: 'NodeStarted', node: index, attempt, ...rendered, ...child }, params);
  if (planNode.step.kind === 'subworkflow' && planNode.step.waitForCompletion) {
    const { timeoutMs } = planNode.policy;
    const until = timeoutMs === null ? null : deciding.now + timeoutMs;
    emit(deciding, { type: 'NodeWaiting', node: index, attempt, kind: 'child', until });
  }
}

function reusableParameters(node: NodeState, planNode: PlanNode): Json | undefined {
  if (planNode.policy.rerenderOnRetry || node.renderedSeq < 0) return undefined;
  return node.params;
}

/** UPDATE_PARAMS for the whole execution, then for this node, then the one-shot override: a shallow merge each. */
function patched(state: State, index: number, node: NodeState, base: Json): Json {
  const { owner } = frameOf(state, index)!;
  if (owner < 0 && state.patch === null && node.patch === null && node.override === null) return base;
  const patches = patchesOf(state, index, node);
  if (patches.length === 0) return base;
  return Object.assign({ ...(isJsonObject(base) ? base : {}) }, ...patches) as Json;
}

/** A patch of a loop applies to all its items. */
function patchesOf(state: State, index: number, node: NodeState): JsonObject[] {
  const { owner } = frameOf(state, index)!;
  const loop = owner < 0 ? null : state.nodes[owner]!;
  const patches = [state.patch, loop?.patch, loop?.override, node.patch, node.override];
  return patches.filter((part) => part !== null && part !== undefined);
}

/** A patched parameter need not be renderable: that is how a failed template is repaired. */
function renderUnpatched(deciding: Deciding, index: number, template: PlanNode['parameters']): Json | TemplateError {
  const { state } = deciding;
  const rendered = render(deciding, index, template);
  if (!(rendered instanceof TemplateError) || template?.kind !== 'object') return rendered;
  const patches = patchesOf(state, index, nodeAt(state, index)!);
  const left = template.entries.filter(([key]) => !patches.some((patch) => Object.hasOwn(patch, key)));
  return left.length === template.entries.length ? rendered : render(deciding, index, { ...template, entries: left });
}

function startSleep(
  deciding: Deciding,
  index: number,
  attempt: number,
  { durationMs }: Extract<Step, { kind: 'sleep' }>,
): void {
  const duration = typeof durationMs === 'number' ? durationMs : render(deciding, index, durationMs);
  if (duration instanceof TemplateError) return failToRender(deciding, index, attempt, duration);
  const milliseconds = typeof duration === 'string' ? (parseDuration(duration) ?? Number(duration)) : duration;
  if (typeof milliseconds !== 'number' || !(milliseconds >= 0) || milliseconds > MAX_SLEEP_MS) {
    const message = `durationMs must be milliseconds from 0 to ${MAX_SLEEP_MS}, or a duration such as "30s", not ${JSON.stringify(duration)}`;
    emit(deciding, { type: 'NodeStarted', node: index, attempt });
    return failAttempt(deciding, index, { error: { code: 'PARAMETERS_INVALID', message }, retryable: false });
  }
  const { timeoutMs } = planNodeOf(deciding.state, index).policy;
  const sleep = { type: 'NodeSleeping', node: index, attempt } as const;
  if (timeoutMs !== null && milliseconds > timeoutMs) {
    emit(deciding, { ...sleep, until: deciding.now + timeoutMs, cut: true });
  } else {
    emit(deciding, { ...sleep, until: deciding.now + Math.ceil(milliseconds) });
  }
}

/** A hundred years: anything later is a mistake in the unit, and dates stop being representable soon after. */
const MAX_SLEEP_MS = 100 * 365 * 24 * 3600 * 1000;

/** Nothing of them is kept: the same parameters would be too large again. */
function failTooLarge(deciding: Deciding, index: number, attempt: number, message: string): void {
  emit(deciding, { type: 'NodeStarted', node: index, attempt });
  failAttempt(deciding, index, { error: { code: 'PARAMETERS_TOO_LARGE', message }, retryable: false });
}

/** A thousand nodes with parameters below this are below any budget, so most facts need not record a length. */
const UNCOUNTED_BYTES = 4_096;
const renderedNow = (bytes: number) =>
  bytes < UNCOUNTED_BYTES ? { rendered: true as const } : { rendered: true as const, bytes };

function failToRender(deciding: Deciding, index: number, attempt: number, { message }: TemplateError): void {
  emit(deciding, { type: 'NodeStarted', node: index, attempt });
  failAttempt(deciding, index, { error: { code: 'TEMPLATE_ERROR', message }, retryable: false });
}
