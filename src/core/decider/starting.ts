// Starts one attempt of a node, whatever kind of step it is. Parameters are rendered here, purely, and recorded with the
// transition; a retry reuses them unless the policy says otherwise. A template that cannot be rendered is that attempt's
// failure, not an exception, and is not retried: the same template would fail again.

import { childExecutionId } from '../id/id.ts';
import { emptyRecord, isJsonObject, type Json } from '../json/json.ts';
import type { PlanNode, Step } from '../plan/plan.ts';
import { renderTemplate, TemplateError } from '../template/render.ts';
import type { Template } from '../template/template.ts';
import { whyAbsent } from './absence.ts';
import { type Deciding, emit, spendOnParameters } from './deciding.ts';
import { failAttempt, receiveCallback } from './outcome.ts';
import type { NodeState } from './state.ts';

export function startNode(deciding: Deciding, index: number): void {
  const planNode = deciding.state.plan.nodes[index]!;
  const attempt = deciding.state.nodes[index]!.attempts + 1;
  const { step } = planNode;
  switch (step.kind) {
    case 'action':
    case 'subworkflow':
      return startWithParameters(deciding, index, attempt, planNode);
    case 'sleep':
      return startSleep(deciding, index, attempt, step);
    case 'webhook': {
      const until = step.timeoutMs === null ? null : deciding.now + step.timeoutMs;
      const { early } = deciding.state.nodes[index]!;
      emit(deciding, { type: 'NodeWaiting', node: index, attempt, kind: 'webhook', until });
      if (early !== null) receiveCallback(deciding, index, early);
      return;
    }
  }
}

function startWithParameters(deciding: Deciding, index: number, attempt: number, planNode: PlanNode): void {
  const node = deciding.state.nodes[index]!;
  const reused = reusableParameters(node, planNode);
  const base = reused ?? render(deciding, planNode.parameters);
  if (base instanceof TemplateError) return failToRender(deciding, index, attempt, base);
  const params = patched(deciding, node, base);
  spendOnParameters(deciding, params);
  deciding.inputs ??= emptyRecord<Json>();
  deciding.inputs[planNode.id] = params;
  const { executionId } = deciding.state.start;
  const child =
    planNode.step.kind === 'subworkflow'
      ? { childId: childExecutionId(deciding.now, executionId, planNode.id, attempt) }
      : {};
  const rendered = reused === undefined ? { rendered: true as const } : {};
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
function patched(deciding: Deciding, node: NodeState, base: Json): Json {
  const { patch } = deciding.state;
  if (patch === null && node.patch === null && node.override === null) return base;
  return { ...(isJsonObject(base) ? base : {}), ...patch, ...node.patch, ...node.override };
}

function startSleep(
  deciding: Deciding,
  index: number,
  attempt: number,
  { durationMs }: Extract<Step, { kind: 'sleep' }>,
): void {
  const duration = typeof durationMs === 'number' ? durationMs : render(deciding, durationMs);
  if (duration instanceof TemplateError) return failToRender(deciding, index, attempt, duration);
  const milliseconds = typeof duration === 'string' ? Number(duration) : duration;
  if (typeof milliseconds !== 'number' || !(milliseconds >= 0) || milliseconds > MAX_SLEEP_MS) {
    const message = `durationMs must be a number of milliseconds from 0 to ${MAX_SLEEP_MS}, not ${JSON.stringify(duration)}`;
    emit(deciding, { type: 'NodeStarted', node: index, attempt });
    return failAttempt(deciding, index, { error: { code: 'PARAMETERS_INVALID', message }, retryable: false });
  }
  const { timeoutMs } = deciding.state.plan.nodes[index]!.policy;
  const sleep = { type: 'NodeSleeping', node: index, attempt } as const;
  if (timeoutMs !== null && milliseconds > timeoutMs) {
    emit(deciding, { ...sleep, until: deciding.now + timeoutMs, cut: true });
  } else {
    emit(deciding, { ...sleep, until: deciding.now + Math.ceil(milliseconds) });
  }
}

/** A hundred years: later than that is a mistake in the unit, and dates stop being representable soon after. */
const MAX_SLEEP_MS = 100 * 365 * 24 * 3600 * 1000;

function render(deciding: Deciding, template: Template | null): Json | TemplateError {
  if (template === null) return {};
  const { state, context, spend } = deciding;
  const options = { spend, style: context.templateStyle, why: whyAbsent(state) };
  const work = () => renderTemplate(template, state.scope, context.limits, options);
  try {
    return context.measure === undefined ? work() : context.measure('template', work);
  } catch (error) {
    return error as TemplateError;
  }
}

function failToRender(deciding: Deciding, index: number, attempt: number, { message }: TemplateError): void {
  emit(deciding, { type: 'NodeStarted', node: index, attempt });
  failAttempt(deciding, index, { error: { code: 'TEMPLATE_ERROR', message }, retryable: false });
}
