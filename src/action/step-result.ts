// The output contract of execution plan steps (docs/plans.md). Outputs that look like a StepOutput must be a valid one: another
// status, an artifact of an unknown kind or a missing field fails the attempt, and so does a StepOutput with status FAILED. In
// plans of schema version 2 every output is a StepOutput: an ordinary action's output becomes its metadata.

import { errorCategory } from '../core/error/category.ts';
import { cleanMessage } from '../core/error/message.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts';
import type { StepContract } from '../core/plan/plan.ts';
import { type StepOutput, stepOutputSchema } from '../protocol/step-output.ts';
import type { AttemptResult } from './attempt.ts';

const STATUSES: readonly unknown[] = ['SUCCESS', 'FAILED', 'SKIPPED'];

export function stepResult(result: AttemptResult, contract: StepContract): AttemptResult {
  if (!result.ok) return result.aborted === true ? result : { ...result, ...failedOutput(result) };
  const outputs = result.outputs ?? (JSON.parse(result.outputsText) as Json);
  if (!claimsStepOutput(outputs)) return contract === 'wrapped' ? { ...result, ...wrapped(outputs) } : result;
  const checked = stepOutputSchema.safeParse(outputs);
  if (!checked.success) return refused(result, checked.error.issues);
  const { status, error } = checked.data;
  if (status !== 'FAILED') return result;
  const { code = 'STEP_FAILED', message = 'the step says that it failed', retryable = false } = error ?? {};
  const { outputsText, logs } = result;
  const failure = { code, message: cleanMessage(message) };
  return { ok: false, error: failure, retryable, outputsText, outputs, ...(logs === undefined ? {} : { logs }) };
}

function claimsStepOutput(outputs: Json): outputs is JsonObject {
  return isJsonObject(outputs) && STATUSES.includes(outputs.status) && outputs.artifactRefs !== undefined;
}

function refused({ logs }: AttemptResult, issues: readonly { path: PropertyKey[]; message: string }[]): AttemptResult {
  const told = issues
    .slice(0, 5)
    .map(({ path, message }) => `${['outputs', ...path].map(String).join('.')}: ${message}`);
  const message = cleanMessage(`the outputs are no StepOutput: ${told.join('; ')}`);
  const error = { code: 'STEP_OUTPUT_INVALID', message };
  return { ok: false, error, retryable: false, ...(logs === undefined ? {} : { logs }) };
}

function wrapped(outputs: Json): { outputs: Json; outputsText: string } {
  const metadata = isJsonObject(outputs) ? outputs : { value: outputs };
  return textOf({ status: 'SUCCESS', artifactRefs: [], metadata });
}

/** A failed step without a StepOutput of its own gets one. */
function failedOutput({ error, retryable, outputs, outputsText }: Extract<AttemptResult, { ok: false }>) {
  const own = outputs ?? (outputsText === undefined ? undefined : (JSON.parse(outputsText) as Json));
  if (own !== undefined && claimsStepOutput(own)) return {};
  const { code, message } = error;
  const told = { category: errorCategory(code), code, message, retryable };
  const metadata = isJsonObject(own) ? own : {};
  return textOf({ status: 'FAILED', artifactRefs: [], metadata, error: told });
}

function textOf(output: StepOutput): { outputs: Json; outputsText: string } {
  const outputsText = JSON.stringify(output);
  return { outputs: JSON.parse(outputsText) as Json, outputsText };
}
