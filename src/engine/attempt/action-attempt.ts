// Runs an attempt with the registered actions: translates the engine's request for the action layer. Nothing else connects the
// two. A resource that another execution already holds fails the attempt (WFENG003). While the database is away, an attempt waits
// for the rows it needs: our outage is not the action's failure, and uses up none of its tries.

import type { ActionDefinition, AttemptArtifacts, Principal, ResourceKey } from '../../action/action.ts';
import type { AttemptLink, AttemptRequest, AttemptResult, RunAttempt } from '../../action/attempt.ts';
import type { AttemptContext } from '../../action/attempt-scope.ts';
import type { Credential, ResolveCredential } from '../../action/credential.ts';
import { describeThrown } from '../../action/failure.ts';
import type { HttpClient } from '../../action/http-client.ts';
import { type AttemptResult as ActionResult, type AttemptSuccess, invokeAction } from '../../action/invoke.ts';
import type { FollowLines } from '../../action/log.ts';
import { Redactor } from '../../action/redact.ts';
import type { Registry } from '../../action/registry.ts';
import { holdsPointer, LARGE_OUTPUT, readBack } from '../../action/spill.ts';
import { stepResult } from '../../action/step-result.ts';
import type { StopSignal } from '../../action/stop.ts';
import type { Artifacts } from '../../artifact/artifacts.ts';
import type { Timers } from '../../clock/timers.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts';
import type { PluginRef, SecretRef } from '../../core/plan/plan.ts';
import type { Store } from '../../store/port.ts';
import { StoreError } from '../../store/store-error.ts';
import type { DisabledActions } from './disabled-actions.ts';
import type { LiveLines } from './live-lines.ts';
import { withHooks } from './step-hook.ts';

export interface ActionAttemptDeps {
  readonly registry: Registry;
  /** Credentials of attempts for other systems. */
  readonly credential: ResolveCredential;
  /** Tokens from the environment, for connectors other than the action's own. */
  readonly environmentToken: (tenantId: string, connectorId: string) => string | undefined;
  /** The values of secrets, in the order of their references. */
  readonly secrets: (refs: readonly SecretRef[], request: AttemptRequest) => Promise<readonly string[]>;
  readonly plugins: { actionFor(plugin: PluginRef, type: string): ActionDefinition };
  readonly http: HttpClient;
  readonly artifacts: Pick<Artifacts, 'put' | 'open' | 'isThere'>;
  readonly store: Store;
  readonly wallClockMs: () => number;
  readonly outputLimitBytes: number;
  readonly abortGraceMs: number;
  readonly disabled: DisabledActions;
  readonly timers: Pick<Timers, 'after'>;
  /** Shows log lines while their attempt runs; absent: they come with its result. */
  readonly live?: Pick<LiveLines, 'begin'>;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

export function createActionAttempts(deps: ActionAttemptDeps): RunAttempt {
  return (request) => {
    if (request.contract === undefined) return attemptWith(deps, request, {});
    const own = () => attemptOfStep(deps, request);
    const run: RunAttempt = (asked) => attemptWith(deps, asked, {});
    const result = request.hooks === undefined ? own() : withHooks({ ...deps, run }, request, own);
    const { contract } = request;
    return result instanceof Promise
      ? result.then((settled) => stepResult(settled, contract))
      : stepResult(result, contract);
  };
}

/** The context of an attempt besides its request. */
interface Given {
  /** Replaces the recorded parameters: with secrets, or with values too large to be recorded. */
  readonly params?: Json;
  readonly secrets?: readonly string[];
}

/** Secrets are merged after the parameters were recorded, so nothing that is stored contains them (S6). */
function attemptOfStep(deps: ActionAttemptDeps, request: AttemptRequest): AttemptResult | Promise<AttemptResult> {
  const { secretRefs } = request;
  if (secretRefs === undefined) return attemptWith(deps, request, {});
  return deps.secrets(secretRefs, request).then(
    (secrets) =>
      attemptWith(deps, request, { params: withSecrets(request.params as Json, secretRefs, secrets), secrets }),
    (thrown: unknown) => withoutCredential(deps, thrown),
  );
}

function attemptWith(
  deps: ActionAttemptDeps,
  request: AttemptRequest,
  given: Given,
): AttemptResult | Promise<AttemptResult> {
  const params = given.params ?? (request.params as Json);
  if (deps.artifacts.isThere && holdsPointer(params)) {
    const open = async (uri: string) => (await deps.artifacts.open(request.tenantId, uri)).content;
    return readBack(params, open).then(
      (whole) => attemptWithCredential(deps, request, { ...given, params: whole }),
      (thrown: unknown) => withoutCredential(deps, thrown),
    );
  }
  return attemptWithCredential(deps, request, given);
}

function attemptWithCredential(
  deps: ActionAttemptDeps,
  request: AttemptRequest,
  given: Given,
): AttemptResult | Promise<AttemptResult> {
  const found = credentialFor(deps, request);
  if (!(found instanceof Promise)) return invoke(deps, request, given, found);
  return found.then(
    (credential) => invoke(deps, request, given, credential),
    (thrown: unknown) => withoutCredential(deps, thrown),
  );
}

/** Each value at its path, or at its key. */
function withSecrets(params: Json, refs: readonly SecretRef[], values: readonly string[]): Json {
  const whole = structuredClone(isJsonObject(params) ? params : {});
  refs.forEach(({ key, as }, index) => {
    const path = as === undefined ? [key] : as.split('.');
    const last = path.pop()!;
    let at: JsonObject = whole;
    for (const name of path) {
      const next = Object.hasOwn(at, name) ? at[name] : undefined;
      const inner = isJsonObject(next) ? next : {};
      Object.defineProperty(at, name, { value: inner, enumerable: true, configurable: true, writable: true });
      at = inner;
    }
    Object.defineProperty(at, last, { value: values[index]!, enumerable: true, configurable: true, writable: true });
  });
  return whole;
}

/** Without a promise when it is cached, or when the action needs none. */
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

/** Repeats the read, with growing pauses, while the store is away and the attempt is wanted. The lease bounds the wait (I6). */
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

/** A credential is only for its own connector, or for the connector that the node names. */
function tokenFor(
  { registry, environmentToken }: ActionAttemptDeps,
  { tenantId, actionType, connection }: AttemptRequest,
  credential: Credential | null,
  connectorId: string,
): string | undefined {
  const isOwn = connection !== undefined || registry.get(actionType)?.connector === connectorId;
  return isOwn && credential !== null ? credential.token : environmentToken(tenantId, connectorId);
}

/** The attempt fails as if the action had asked for the credential: a passing failure is retried. */
function withoutCredential({ outputLimitBytes }: ActionAttemptDeps, thrown: unknown): AttemptResult {
  return { ok: false, ...describeThrown(thrown, new Redactor(), outputLimitBytes) };
}

function invoke(
  deps: ActionAttemptDeps,
  request: AttemptRequest,
  given: Given,
  credential: Credential | null,
): AttemptResult | Promise<AttemptResult> {
  const { registry, artifacts, outputLimitBytes, abortGraceMs } = deps;
  const { plugin } = request;
  const result = invokeAction({
    registry: plugin === undefined ? registry : { get: (type) => deps.plugins.actionFor(plugin, type) },
    actionType: request.actionType,
    parameters: given.params ?? (request.params as Json),
    timeoutMs: request.timeoutMs,
    outputLimitBytes,
    keepLarge: artifacts.isThere ? (text) => artifacts.put(makerOf(request), LARGE_OUTPUT, text) : undefined,
    abortGraceMs,
    context: new GivenContext(deps, request, given, credential),
  });
  return result instanceof Promise
    ? result.then((settled) => afterwards(deps, request, settled))
    : afterwards(deps, request, result);
}

const makerOf = ({ tenantId, executionId, nodeId, attempt }: AttemptRequest) => ({
  tenantId,
  executionId,
  nodeId,
  attempt,
});

/** The services of an attempt. Each is created on first use, because most actions use few. */
class GivenContext implements AttemptContext {
  readonly credential: Credential | null;
  private readonly deps: ActionAttemptDeps;
  private readonly request: AttemptRequest;
  private readonly given: Given;

  constructor(deps: ActionAttemptDeps, request: AttemptRequest, given: Given, credential: Credential | null) {
    this.credential = credential;
    this.deps = deps;
    this.request = request;
    this.given = given;
  }

  get executionId() {
    return this.request.executionId;
  }

  get nodeId() {
    return this.request.nodeId;
  }

  get attempt() {
    return this.request.attempt;
  }

  get mayHaveRun() {
    return this.request.mayHaveRun;
  }

  get idempotencyKey() {
    return this.request.idempotencyKey;
  }

  get principal() {
    return this.request.principal as Principal;
  }

  get correlationId() {
    return this.request.correlationId;
  }

  get tenantId() {
    return this.request.tenantId;
  }

  get traceparent() {
    return this.request.traceparent;
  }

  get signal() {
    return this.request.signal;
  }

  get secrets() {
    return this.given.secrets;
  }

  get followLines(): FollowLines | undefined {
    const { live } = this.deps;
    return live && ((lines) => live.begin(this.request, lines));
  }

  get http() {
    return this.deps.http;
  }

  get now() {
    return this.deps.wallClockMs;
  }

  get credentials() {
    return { token: (id: string) => tokenFor(this.deps, this.request, this.credential, id) };
  }

  findResource(key: ResourceKey) {
    const { tenantId, signal } = this.request;
    return patiently(this.deps, signal, () => this.deps.store.resourceFind({ tenantId, ...key }));
  }

  get artifacts(): AttemptArtifacts {
    const { artifacts } = this.deps;
    return {
      put: (artifact, content) => artifacts.put(makerOf(this.request), artifact, content),
      open: async (uri) => (await artifacts.open(this.tenantId, uri)).content,
    };
  }
}

/** Without a promise when there is nothing to look up. */
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
