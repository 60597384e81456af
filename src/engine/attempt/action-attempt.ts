// Runs an attempt with the registered actions: what the engine asks for, in the terms of the action layer. The only place
// where the two meet. A resource that another execution holds already fails the attempt (WFENG003, 000 §3.9).

import type { Credentials, Principal } from '../../action/action.ts';
import type { HttpClient } from '../../action/http-client.ts';
import { type AttemptResult as ActionResult, type AttemptSuccess, invokeAction } from '../../action/invoke.ts';
import type { Registry } from '../../action/registry.ts';
import type { Json } from '../../core/json/json.ts';
import type { Store } from '../../store/port.ts';
import type { AttemptLink, AttemptRequest, AttemptResult, RunAttempt } from '../environment.ts';
import type { DisabledActions } from './disabled-actions.ts';

export interface ActionAttemptDeps {
  readonly registry: Registry;
  readonly credentials: Credentials;
  readonly http: HttpClient;
  readonly store: Store;
  readonly wallClockMs: () => number;
  readonly outputLimitBytes: number;
  readonly abortGraceMs: number;
  readonly disabled: DisabledActions;
}

export function createActionAttempts(deps: ActionAttemptDeps): RunAttempt {
  const { registry, credentials, http, store, wallClockMs: now, outputLimitBytes, abortGraceMs } = deps;
  return (request) => {
    const { executionId, nodeId, attempt, idempotencyKey, correlationId, tenantId, traceparent, signal } = request;
    const result = invokeAction({
      registry,
      actionType: request.actionType,
      parameters: request.params as Json,
      timeoutMs: request.timeoutMs,
      outputLimitBytes,
      abortGraceMs,
      context: {
        executionId,
        nodeId,
        attempt,
        idempotencyKey,
        principal: request.principal as Principal,
        correlationId,
        tenantId,
        traceparent,
        credentials,
        http,
        now,
        signal,
        findResource: (key) => store.resourceFind({ tenantId, ...key }),
      },
    });
    return result instanceof Promise
      ? result.then((settled) => afterwards(deps, request, settled))
      : afterwards(deps, request, result);
  };
}

/** At once, when there is nothing to look up. */
function afterwards(
  deps: ActionAttemptDeps,
  request: AttemptRequest,
  result: ActionResult,
): AttemptResult | Promise<AttemptResult> {
  const { disabled, wallClockMs } = deps;
  if (!disabled.isFresh() || hasLinks(result)) return lookedUp(deps, request, result);
  return disabled.noted(request.actionType, wallClockMs, result);
}

async function lookedUp(
  { store, disabled, wallClockMs }: ActionAttemptDeps,
  request: AttemptRequest,
  result: ActionResult,
): Promise<AttemptResult> {
  if (!disabled.isFresh()) await disabled.look();
  const noted = disabled.noted(request.actionType, wallClockMs, result);
  return hasLinks(result) ? ((await linkConflict(store, request, result.resourceLinks)) ?? noted) : noted;
}

function hasLinks(result: ActionResult): result is AttemptSuccess {
  return result.ok && result.resourceLinks.length > 0;
}

async function linkConflict(
  store: Store,
  { tenantId, executionId, nodeId, attempt }: AttemptRequest,
  links: readonly AttemptLink[],
): Promise<AttemptResult | null> {
  const rows = links.map(({ url, ...link }) => ({ tenantId, executionId, nodeId, attempt, ...link, url: url ?? null }));
  try {
    const [conflict] = await store.resourceLinkCheck({ links: rows });
    if (conflict === undefined) return null;
    const { system, resourceType, resourceId } = conflict;
    const message = `${system} ${resourceType} ${resourceId} is already linked to execution ${conflict.executionId}`;
    return { ok: false, error: { code: 'WFENG003', message }, retryable: false };
  } catch (error) {
    const message = `the links could not be checked: ${String(error)}`;
    return { ok: false, error: { code: 'STORE_UNAVAILABLE', message }, retryable: true };
  }
}
