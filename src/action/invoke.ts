// The one place where an attempt runs, for every driver: find the action, check the parameters, run it under its timeout and the
// engine's abort signal, and turn the outcome into a result. It never throws: every end of an attempt is a value. It records and
// retries nothing; that is the decider's job. An action that returns without a promise costs no timer and no signal. An action
// that ignores its signal is abandoned: at once after its timeout, after the grace period when the engine aborted it, so that its
// real outcome can still be kept.

import type { z } from 'zod';
import type { NodeError } from '../core/decider/fact.ts';
import { issueMessage } from '../core/definition/issue-message.ts';
import { isTerminalError } from '../core/error/error.ts';
import { cleanMessage, cleanText } from '../core/error/message.ts';
import type { Json } from '../core/json/json.ts';
import type { ActionDefinition, ResourceLink } from './action.ts';
import { type AttemptContext, AttemptScope } from './attempt-scope.ts';
import { describeThrown } from './failure.ts';
import type { LogLine } from './log.ts';
import { encodeOutputs } from './outputs.ts';
import { Redactor } from './redact.ts';
import type { Registry } from './registry.ts';
import { AttemptAbandoned, AttemptTimedOut, abortReason, settle, type Watched } from './settling.ts';
import { type KeepText, MOST_SPILLED_BYTES, spill } from './spill.ts';
import type { StopSignal } from './stop.ts';

export interface InvokeRequest {
  readonly registry: Pick<Registry, 'get'>;
  readonly actionType: string;
  readonly parameters: Json;
  readonly context: AttemptContext;
  /** null = none. */
  readonly timeoutMs: number | null;
  /** Of the outputs' JSON text. */
  readonly outputLimitBytes?: number;
  /** Stores outputs that are too large; absent: such an attempt fails. */
  readonly keepLarge?: KeepText | undefined;
  /** How long an aborted attempt may take to end by itself. */
  readonly abortGraceMs?: number;
}

export type AttemptResult = AttemptSuccess | AttemptFailure;

export interface AttemptSuccess {
  readonly ok: true;
  /** The stored text; `outputs` is its parsed value (I15), `bytes` its length in UTF-8. */
  readonly outputsText: string;
  readonly outputs: Json;
  readonly bytes: number;
  readonly resourceLinks: readonly ResourceLink[];
  readonly logs: readonly LogLine[];
}

export interface AttemptFailure {
  readonly ok: false;
  readonly error: NodeError;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly timedOut?: true;
  /** It ended because the engine aborted it. */
  readonly aborted?: true;
  /** It did not end within the grace, and may still be running. */
  readonly abandoned?: true;
  readonly outputsText?: string;
  readonly outputs?: Json;
  /** The stack of an unexpected error. */
  readonly stack?: string;
  readonly logs: readonly LogLine[];
}

const DEFAULT_OUTPUT_LIMIT_BYTES = 1024 * 1024;
const NO_LINKS: readonly ResourceLink[] = [];
const DEFAULT_ABORT_GRACE_MS = 5_000;

/** Returns a promise only when the action does. */
export function invokeAction(request: InvokeRequest): AttemptResult | Promise<AttemptResult> {
  const { actionType, context } = request;
  const action = request.registry.get(actionType);
  if (action === undefined) {
    // The action existed when the workflow was published. Usually this start lacks its folder.
    const advice = 'actions of your own are in the folder of --actions (PAWL_ACTION_FOLDER)';
    return refused('ACTION_NOT_FOUND', `No action "${actionType}" is registered in this runner: ${advice}`);
  }
  if (context.signal?.aborted) return aborted(context.signal, []);
  const parameters = checkParameters(action, request.parameters);
  if (!parameters.ok) {
    return refused('PARAMETERS_INVALID', new Redactor(context.secrets).redact(parameters.message));
  }

  const scope = new AttemptScope(context);
  try {
    const returned: unknown = action.run(parameters.value, scope);
    if (isThenable(returned)) return settle(returned, new RunningAttempt(scope, request));
    return succeeded(returned, scope, request);
  } catch (thrown) {
    return failed(thrown, scope, request);
  }
}

class RunningAttempt implements Watched<AttemptResult> {
  private readonly scope: AttemptScope;
  private readonly request: InvokeRequest;

  constructor(scope: AttemptScope, request: InvokeRequest) {
    this.scope = scope;
    this.request = request;
  }

  get timeoutMs(): number | null {
    return this.request.timeoutMs;
  }

  get abortGraceMs(): number {
    return this.request.abortGraceMs ?? DEFAULT_ABORT_GRACE_MS;
  }

  get outer(): StopSignal | undefined {
    return this.request.context.signal;
  }

  stop(reason: Error): void {
    this.scope.stop(reason);
  }

  fulfilled(value: unknown): AttemptResult | Promise<AttemptResult> {
    try {
      return succeeded(value, this.scope, this.request);
    } catch (thrown) {
      return failed(thrown, this.scope, this.request);
    }
  }

  rejected(thrown: unknown): AttemptResult {
    return failed(thrown, this.scope, this.request);
  }
}

// ── Parameters ──────────────────────────────────────────────────────────────────────────────────────────────────────

type Checked = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string };

function checkParameters(action: ActionDefinition, parameters: Json): Checked {
  try {
    const parsed = action.params.safeParse(parameters);
    if (parsed.success) return { ok: true, value: parsed.data };
    return { ok: false, message: `${action.type}: ${parsed.error.issues.map(describeIssue).join('; ')}` };
  } catch (thrown) {
    // A user's schema may be asynchronous, or throw in a refinement.
    const detail = thrown instanceof Error ? thrown.message : String(thrown);
    return { ok: false, message: `${action.type}: the parameters could not be checked: ${detail}` };
  }
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const path = issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  if (issue.code !== 'unrecognized_keys') return `parameters${path}: ${issueMessage(issue)}`;
  return issue.keys.map((key) => `parameters${path}.${key}: is not a parameter`).join('; ');
}

// ── Running ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

// ── Results ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function succeeded(
  result: unknown,
  scope: AttemptScope,
  request: InvokeRequest,
): AttemptResult | Promise<AttemptResult> {
  const logs = scope.close();
  const problem = resultProblem(result);
  if (problem !== null) return refused('ACTION_RESULT_INVALID', `${request.actionType} ${problem}`, logs);
  const { outputs, resourceLinks = [] } = (result ?? {}) as {
    outputs?: unknown;
    resourceLinks?: readonly ResourceLink[];
  };
  const { keepLarge, outputLimitBytes: limit = DEFAULT_OUTPUT_LIMIT_BYTES } = request;
  const encoded = encodeOutputs(outputs, limit);
  const links = resourceLinks.length === 0 ? NO_LINKS : resourceLinks.map((link) => cleanLink(link, scope.redactor));
  if (!encoded.ok) {
    const isLarge = encoded.code === 'OUTPUT_TOO_LARGE' && keepLarge !== undefined;
    const whole = isLarge ? encodeOutputs(outputs, MOST_SPILLED_BYTES) : encoded;
    if (!whole.ok) return refused(whole.code, scope.redactor.redact(whole.message), logs);
    return spilled(scope.redactor.redactJson(whole.text), limit, keepLarge!, { links, logs });
  }
  const outputsText = scope.knownSecrets?.redactJson(encoded.text) ?? encoded.text;
  return {
    ok: true,
    outputsText,
    outputs: JSON.parse(outputsText) as Json,
    bytes: outputsText === encoded.text ? encoded.bytes : Buffer.byteLength(outputsText),
    resourceLinks: links,
    logs,
  };
}

/** The effect has happened. If the store is away, the attempt runs again, which its key makes safe (I7). */
async function spilled(
  text: string,
  limit: number,
  keep: KeepText,
  { links, logs }: { links: readonly ResourceLink[]; logs: readonly LogLine[] },
): Promise<AttemptResult> {
  try {
    const outputs = await spill(JSON.parse(text) as Json, limit, keep);
    const outputsText = JSON.stringify(outputs);
    return { ok: true, outputsText, outputs, bytes: Buffer.byteLength(outputsText), resourceLinks: links, logs };
  } catch (error) {
    const message = cleanMessage(`the large outputs could not be stored: ${(error as Error).message}`);
    return { ok: false, error: { code: 'ARTIFACT_UNAVAILABLE', message }, retryable: true, logs };
  }
}

/** undefined is a result without outputs. Anything other than `{ outputs, resourceLinks? }` is a mistake. */
function resultProblem(result: unknown): string | null {
  if (result === undefined) return null;
  if (typeof result !== 'object' || result === null || !('outputs' in result)) {
    return 'must return { outputs, resourceLinks? }';
  }
  const links = (result as { resourceLinks?: unknown }).resourceLinks;
  if (links === undefined) return null;
  return Array.isArray(links) && links.every(isResourceLink)
    ? null
    : 'returned resourceLinks that are not a list of { system, resourceType, resourceId, url? }';
}

function isResourceLink(link: unknown): link is ResourceLink {
  if (typeof link !== 'object' || link === null) return false;
  const { system, resourceType, resourceId, url } = link as Record<string, unknown>;
  const isName = (value: unknown): boolean => typeof value === 'string' && value !== '';
  return [system, resourceType, resourceId].every(isName) && (url === undefined || typeof url === 'string');
}

function cleanLink({ system, resourceType, resourceId, url }: ResourceLink, redactor: Redactor): ResourceLink {
  const clean = (text: string) => cleanText(redactor.redact(text));
  return {
    system: clean(system),
    resourceType: clean(resourceType),
    resourceId: clean(resourceId),
    ...(url === undefined ? {} : { url: clean(url) }),
  };
}

function failed(thrown: unknown, scope: AttemptScope, request: InvokeRequest): AttemptFailure {
  const logs = scope.close();
  if (thrown instanceof AttemptTimedOut) {
    const error = { code: 'ATTEMPT_TIMEOUT', message: thrown.message };
    return { ok: false, error, retryable: true, timedOut: true, logs };
  }
  // After an abort a failure is expected, unless the action insists that it is its own.
  const signal = request.context.signal;
  if (signal?.aborted && thrown instanceof AttemptAbandoned) return { ...aborted(signal, logs), abandoned: true };
  if (signal?.aborted && !isTerminalError(thrown)) return aborted(signal, logs);
  const limit = request.outputLimitBytes ?? DEFAULT_OUTPUT_LIMIT_BYTES;
  return { ok: false, ...describeThrown(thrown, scope.redactor, limit), logs };
}

function aborted(signal: StopSignal, logs: readonly LogLine[]): AttemptFailure {
  const message = cleanMessage(`The attempt was told to stop: ${abortReason(signal).message}`);
  return { ok: false, error: { code: 'CANCELLED', message }, retryable: false, aborted: true, logs };
}

function refused(code: string, message: string, logs: readonly LogLine[] = []): AttemptFailure {
  return { ok: false, error: { code, message: cleanMessage(message) }, retryable: false, logs };
}
