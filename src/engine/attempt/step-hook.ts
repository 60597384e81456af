// Hooks of a plan's step: actions that every attempt calls before and after its own. They belong to the attempt: a failing
// `preStep` fails the attempt, and the step's own action does not run. A `postStep` gets the outcome and cannot change it: its
// failure only appears in the attempt's log. Each has its own idempotency key, the same in every attempt (I7).

import type { AttemptRequest, AttemptResult, RunAttempt } from '../../action/attempt.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts';
import { HOOK_ROOTS, type StepHook } from '../../core/plan/plan.ts';
import { compileTemplate } from '../../core/template/compile.ts';
import { renderTemplate } from '../../core/template/render.ts';

export interface HookDeps {
  readonly run: RunAttempt;
  readonly wallClockMs: () => number;
}

export async function withHooks(
  deps: HookDeps,
  request: AttemptRequest,
  attempt: () => AttemptResult | Promise<AttemptResult>,
): Promise<AttemptResult> {
  const { preStep, postStep } = request.hooks!;
  const before = preStep === undefined ? null : await callHook(deps, request, 'preStep', preStep, null);
  const result = before === null || before.ok ? await attempt() : refusedBy(before);
  // An aborted attempt has no outcome.
  if (postStep === undefined || (!result.ok && result.aborted === true)) return result;
  const after = await callHook(deps, request, 'postStep', postStep, outcomeOf(result));
  if (after.ok) return result;
  const message = `postStep ${postStep.actionType} failed: ${after.error.message}`;
  const line = { at: deps.wallClockMs(), level: 'warn', message, data: null };
  return { ...result, logs: [...(result.logs ?? []), line] };
}

function refusedBy(failure: Extract<AttemptResult, { ok: false }>): AttemptResult {
  const { error, outputs: _outputs, outputsText: _text, ...rest } = failure;
  return { ...rest, error: { code: error.code, message: `preStep failed: ${error.message}` } };
}

function outcomeOf(result: AttemptResult): JsonObject {
  if (!result.ok) return { status: 'FAILED', error: { ...result.error }, outputs: result.outputs ?? null };
  const outputs = result.outputs ?? (JSON.parse(result.outputsText) as Json);
  const status = isJsonObject(outputs) && outputs.status === 'SKIPPED' ? 'SKIPPED' : 'SUCCESS';
  return { status, error: null, outputs };
}

async function callHook(
  { run }: HookDeps,
  request: AttemptRequest,
  phase: 'preStep' | 'postStep',
  { actionType, inputs }: StepHook,
  outcome: JsonObject | null,
): Promise<AttemptResult> {
  const { nodeId, attempt, executionId, workflowId, environmentId, tenantId } = request;
  const step = { id: nodeId, type: request.actionType, attempt };
  const scope = { step, run: { id: executionId, planId: workflowId, environmentId, tenantId }, outcome };
  try {
    const compiled = compileTemplate(inputs, { roots: HOOK_ROOTS, dialect: 'javascript' });
    if (!compiled.ok) throw new Error(compiled.problems[0]!.message);
    const {
      connection: _connection,
      secretRefs: _refs,
      contract: _contract,
      hooks: _hooks,
      plugin: _plugin,
      ...asked
    } = request;
    const idempotencyKey = `${request.idempotencyKey}:${phase}`;
    return await run({ ...asked, actionType, params: renderTemplate(compiled.template, scope), idempotencyKey });
  } catch (error) {
    const message = `the inputs of the hook cannot be rendered: ${(error as Error).message}`;
    return { ok: false, error: { code: 'TEMPLATE_ERROR', message }, retryable: false };
  }
}
