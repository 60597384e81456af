// Runs an attempt with the registered actions: what the engine asks for, in the terms of the action layer. The only place
// where the two meet. A resource that another execution holds already fails the attempt (WFENG003). While the database is away, an
// attempt waits for the rows it needs: an outage of ours is no failure of the action, and uses up none of its tries.

import type { Principal } from '../../action/action.ts';
import type { AttemptLink, AttemptRequest, AttemptResult, RunAttempt } from '../../action/attempt.ts';
import type { Credential, ResolveCredential } from '../../action/credential.ts';
import { describeThrown } from '../../action/failure.ts';
import type { HttpClient } from '../../action/http-client.ts';
import { type AttemptResult as ActionResult, type AttemptSuccess, invokeAction } from '../../action/invoke.ts';
import { Redactor } from '../../action/redact.ts';
import type { Registry } from '../../action/registry.ts';
import type { StopSignal } from '../../action/stop.ts';
import type { Artifacts } from '../../artifact/artifacts.ts';
import type { Timers } from '../../clock/timers.ts';
import type { Json } from '../../core/json/json.ts';
import type { Store } from '../../store/port.ts';
import { StoreError } from '../../store/store-error.ts';
import type { DisabledActions } from './disabled-actions.ts';

export interface ActionAttemptDeps {
  readonly registry: Registry;
  /** What attempts prove themselves with to other systems. */
  readonly credential: ResolveCredential;
  /** Of connectors whose actions it is not: what the environment has, for whom it counts. */
  readonly environmentToken: (tenantId: string, connectorId: string) => string | undefined;
  readonly http: HttpClient;
  readonly artifacts: Pick<Artifacts, 'put' | 'open'>;
  readonly store: Store;
  readonly wallClockMs: () => number;
  readonly outputLimitBytes: number;
  readonly abortGraceMs: number;
  readonly disabled: DisabledActions;
  readonly timers: Pick<Timers, 'after'>;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

export function createActionAttempts(deps: ActionAttemptDeps): RunAttempt {
  return (request) => {
    const found = credentialFor(deps, request);
    if (!(found instanceof Promise)) return invoke(deps, request, found);
    return found.then(
      (credential) => invoke(deps, request, credential),
      (thrown: unknown) => withoutCredential(deps, thrown),
    );
  };
}

/** At once where it is known, or where the action needs none. */
function credentialFor(deps: ActionAttemptDeps, request: AttemptRequest) {
  const connector = deps.registry.get(request.actionType)?.connector;
  if (connector === undefined) return null;
  const wanted = {
    tenantId: request.tenantId,
    environmentId: request.environmentId,
    principalId: (request.principal as Principal).userId,
    connector,
    connection: request.connection ?? null,
  };
  try {
    const found = deps.credential(wanted);
    if (!(found instanceof Promise)) return found;
    return found.catch((thrown) => onceStoreIsBack(deps, request.signal, thrown, async () => deps.credential(wanted)));
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}

/** Reads again, with growing pauses, for as long as the store is away and the attempt is wanted. The lease bounds the wait (I6). */
async function onceStoreIsBack<Result>(
  { timers }: ActionAttemptDeps,
  signal: StopSignal,
  failure: unknown,
  read: () => Promise<Result>,
): Promise<Result> {
  let thrown = failure;
  for (
    let pauseMs = FIRST_PAUSE_MS;
    isOutage(thrown) && !signal.aborted;
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
  ) {
    await new Promise<void>((resolve) => timers.after(pauseMs, resolve));
    try {
      return await read();
    } catch (again) {
      thrown = again;
    }
  }
  throw thrown;
}

function patiently<Result>(deps: ActionAttemptDeps, signal: StopSignal, read: () => Promise<Result>): Promise<Result> {
  return read().catch((thrown) => onceStoreIsBack(deps, signal, thrown, read));
}

/** Every read may be repeated, also one whose answer was lost. */
const isOutage = (thrown: unknown): boolean =>
  thrown instanceof StoreError && (thrown.failure === 'retry' || thrown.failure === 'unknown');

/** A credential is for its own connector, or for whatever the node names it for. */
function tokenFor(
  { registry, environmentToken }: ActionAttemptDeps,
  { tenantId, actionType, connection }: AttemptRequest,
  credential: Credential | null,
  connectorId: string,
): string | undefined {
  const isOwn = connection !== undefined || registry.get(actionType)?.connector === connectorId;
  return isOwn && credential !== null ? credential.token : environmentToken(tenantId, connectorId);
}

/** The attempt fails as it would if the action had asked: what may pass is tried again. */
function withoutCredential({ outputLimitBytes }: ActionAttemptDeps, thrown: unknown): AttemptResult {
  return { ok: false, ...describeThrown(thrown, new Redactor(), outputLimitBytes) };
}

function invoke(
  deps: ActionAttemptDeps,
  request: AttemptRequest,
  credential: Credential | null,
): AttemptResult | Promise<AttemptResult> {
  const { registry, http, artifacts, store, wallClockMs: now, outputLimitBytes, abortGraceMs } = deps;
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
      mayHaveRun: request.mayHaveRun,
      idempotencyKey,
      principal: request.principal as Principal,
      correlationId,
      tenantId,
      traceparent,
      credentials: { token: (connectorId) => tokenFor(deps, request, credential, connectorId) },
      credential,
      http,
      now,
      signal,
      findResource: (key) => patiently(deps, signal, () => store.resourceFind({ tenantId, ...key })),
      artifacts: {
        put: (artifact, content) => artifacts.put({ tenantId, executionId, nodeId, attempt }, artifact, content),
        open: async (uri) => (await artifacts.open(tenantId, uri)).content,
      },
    },
  });
  return result instanceof Promise
    ? result.then((settled) => afterwards(deps, request, settled))
    : afterwards(deps, request, result);
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
  deps: ActionAttemptDeps,
  request: AttemptRequest,
  result: ActionResult,
): Promise<AttemptResult> {
  const { disabled, wallClockMs } = deps;
  if (!disabled.isFresh()) await disabled.look();
  const noted = disabled.noted(request.actionType, wallClockMs, result);
  return hasLinks(result) ? ((await linkConflict(deps, request, result.resourceLinks)) ?? noted) : noted;
}

function hasLinks(result: ActionResult): result is AttemptSuccess {
  return result.ok && result.resourceLinks.length > 0;
}

async function linkConflict(
  deps: ActionAttemptDeps,
  { tenantId, executionId, nodeId, attempt, signal }: AttemptRequest,
  links: readonly AttemptLink[],
): Promise<AttemptResult | null> {
  const rows = links.map(({ url, ...link }) => ({ tenantId, executionId, nodeId, attempt, ...link, url: url ?? null }));
  try {
    const [conflict] = await patiently(deps, signal, () => deps.store.resourceLinkCheck({ links: rows }));
    if (conflict === undefined) return null;
    const { system, resourceType, resourceId } = conflict;
    const message = `${system} ${resourceType} ${resourceId} is already linked to execution ${conflict.executionId}`;
    return { ok: false, error: { code: 'WFENG003', message }, retryable: false };
  } catch (error) {
    const message = `the links could not be checked: ${String(error)}`;
    return { ok: false, error: { code: 'STORE_UNAVAILABLE', message }, retryable: true };
  }
}
