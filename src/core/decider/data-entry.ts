// The data of a final node, as expressions see it: `context.data[id]`, `tasks[id]` or `steps[id]`, by format. Conditions of
// pipelines branch on skipped, cancelled and failed steps, so those have entries too; in graphs they have none.

import { isJsonObject, type Json } from '../json/json.ts';
import type { Format, Step } from '../plan/plan.ts';
import type { Failure } from '../retry/error-match.ts';
import type { NodeError } from './fact.ts';

export function succeededEntry(
  format: Format,
  kind: Step['kind'],
  { outputs, truncated }: { readonly outputs: Json; readonly truncated?: true },
): Json {
  // Only the execution reads the entry of an end node, and returns it as it is.
  if (kind === 'end') return outputs;
  switch (format) {
    case 'graph':
      return outputs;
    case 'pipeline':
      if (kind === 'wait') return { ...response(waited(outputs)), status: 'received' };
      if (kind !== 'webhook') return { ...response(outputs), status: 'success' };
      return { ...response({ body: outputs }), status: 'received', ...(truncated ? { is_truncated: true } : {}) };
    case 'plan':
      return { status: 'SUCCESS', output: outputs };
  }
}

/** The result of a wait, readable like a response: `tasks.decision.by`, `tasks.decision.body`. */
function waited(outputs: Json): Json {
  return isJsonObject(outputs) ? { ...outputs, body: outputs.data ?? null } : outputs;
}

/** The outputs, recovered from the entry of a succeeded node. */
export function outputsOf(format: Format, kind: Step['kind'], entry: Json): Json {
  if (format === 'graph' || kind === 'end' || !isJsonObject(entry)) return entry;
  if (format === 'plan') return entry.output!;
  if (kind === 'webhook') return entry.body!;
  const { status: _status, ...outputs } = entry;
  return outputs;
}

export function failedEntry(
  format: Format,
  nodeId: string,
  error: NodeError,
  outputs: Json | undefined,
  timedOut: boolean,
): Json {
  const { code, message, cause } = error;
  const told = { code, message, ...(cause === undefined ? {} : { cause: cause as unknown as Json }) };
  switch (format) {
    case 'graph':
      return { error: outputs === undefined ? told : { ...told, details: detailsOf(outputs) }, errorNode: nodeId };
    case 'pipeline':
      return { ...response(outputs), status: pipelineFailure(error, timedOut), error: told };
    case 'plan':
      return { status: 'FAILED', output: outputs ?? null, error: told };
  }
}

const MAX_DETAIL_CHARS = 16 * 1024;

/** The part of a failed attempt's outputs that conditions and messages can read. The attempt keeps all of them. */
function detailsOf(outputs: Json): Json {
  if (!isJsonObject(outputs)) return cutDetail(outputs);
  return Object.fromEntries(Object.entries(outputs).map(([key, value]) => [key, cutDetail(value)]));
}

function cutDetail(value: Json): Json {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= MAX_DETAIL_CHARS ? value : `${text.slice(0, MAX_DETAIL_CHARS)}…`;
}

/** The failure in the entry of a graph's node, as error rules read it. */
export function failureOf(error: NodeError, timedOut: boolean, entry: Json): Failure {
  const { error: told } = entry as { error: { details?: Json } };
  return { error, timedOut, outputs: told.details };
}

/** For a node that was skipped, or cancelled because nothing needs it. */
export function absentEntry(format: Format, became: 'skipped' | 'cancelled'): Json | undefined {
  switch (format) {
    case 'graph':
      return undefined;
    case 'pipeline':
      return { ...response(undefined), status: became };
    case 'plan':
      return { status: became.toUpperCase(), output: null };
  }
}

/** The pipeline statuses of a step that did not succeed. */
function pipelineFailure(error: NodeError, timedOut: boolean): string {
  if (timedOut) return 'timeout';
  return error.code === 'TEMPLATE_ERROR' ? 'template_error' : 'failed';
}

function response(outputs: Json | undefined): { [key: string]: Json } {
  return { status_code: null, body: null, headers: {}, ...(isJsonObject(outputs) ? outputs : {}) };
}
