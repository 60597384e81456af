// Rate limits: requests per token, starts per workflow, starts and signals per tenant. Counted in the database, so that all
// processes share them. A start over the limit is refused, or accepted and held until there is room (I21).

import { ERROR_CODES } from '../core/error/codes.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import type { RateAlgorithm } from '../protocol/quota.ts';
import type { AccessStore } from '../store/access-port.ts';
import type { StartHold } from '../store/port.ts';
import type { ExecutionReader } from '../store/reader-port.ts';

export interface RateLimiter {
  /** Takes one request from the caller's bucket and returns the remainder as headers; throws RATE_LIMITED. */
  spend(key: string): Promise<Readonly<Record<string, string>>>;
}

export interface WorkflowThrottle {
  /** Throws RATE_LIMITED, or says how long to hold the start. A repeated request starts and costs nothing. */
  spend(start: LimitedStart): Promise<StartHold | undefined>;
}

interface LimitedStart {
  readonly tenantId: string;
  readonly workflowId: string;
  readonly projectId?: string | undefined;
  readonly requestId?: string | undefined;
}

/** The details of a rate-limit refusal, in the answer and its headers. */
export interface Exhausted {
  readonly limit: number;
  readonly remaining: number;
  readonly retryAfterSeconds: number;
}

export interface Rate {
  readonly perMinute: number;
  readonly burst: number;
}

/** `kind`: the bucket of the token. Reads have their own, because one dashboard page makes several requests. */
export function createRateLimiter(store: AccessStore, { perMinute, burst }: Rate, kind = 'token'): RateLimiter {
  const perSecond = perMinute / 60;
  return {
    async spend(key) {
      const { allowed, tokens } = await store.rateSpend({ key: `${kind}:${key}`, perSecond, burst });
      if (!allowed) throw rateLimited(ERROR_CODES.RATE_LIMITED.message, burst, tokens, perSecond);
      return { 'x-ratelimit-limit': String(burst), 'x-ratelimit-remaining': String(Math.floor(tokens)) };
    },
  };
}

type ThrottleStore = AccessStore & Pick<ExecutionReader, 'executionByRequest'>;

export interface StartRates extends SharedRate {
  /** 0: unlimited. */
  readonly perWorkflowPerMinute: number;
  readonly perTenantStartsPerMinute: number;
  readonly whenExceeded: 'REJECT' | StartHold['policy'];
  readonly maxHoldMs: number;
}

/** The shared counter behind every per-minute limit of a tenant. */
export interface SharedRate {
  readonly algorithm: RateAlgorithm;
  /** Each project of a tenant has its own limit. */
  readonly perProject: boolean;
}

export function createWorkflowThrottle(store: ThrottleStore, rates: StartRates): WorkflowThrottle {
  const { perWorkflowPerMinute, perTenantStartsPerMinute, whenExceeded, maxHoldMs } = rates;
  const mayWaitMs = whenExceeded === 'REJECT' ? 0 : maxHoldMs;
  return {
    async spend({ tenantId, workflowId, projectId, requestId }) {
      if (requestId !== undefined && (await store.executionByRequest({ tenantId, requestId })) !== null) return;
      const { algorithm } = rates;
      const ofWorkflow = await spendOne(store, {
        ...{ algorithm, mayWaitMs, perMinute: perWorkflowPerMinute, key: `workflow:${tenantId}:${workflowId}` },
        message: `workflow "${workflowId}" may be started ${perWorkflowPerMinute} times a minute`,
      });
      const ofTenant = await spendOne(store, {
        ...{
          algorithm,
          mayWaitMs,
          perMinute: perTenantStartsPerMinute,
          key: keyOf('starts', rates, tenantId, projectId),
        },
        message: `your ${ownerOf(rates)} may start ${perTenantStartsPerMinute} executions a minute`,
      });
      const waitMs = Math.max(ofWorkflow, ofTenant);
      return waitMs === 0 || whenExceeded === 'REJECT' ? undefined : { waitMs, policy: whenExceeded };
    },
  };
}

const ownerOf = ({ perProject }: SharedRate): string => (perProject ? 'project' : 'tenant');

const keyOf = (what: string, { perProject }: SharedRate, tenantId: string, projectId = 'default'): string =>
  perProject ? `${what}:${tenantId}:${projectId}` : `${what}:${tenantId}`;

export interface SignalThrottle {
  /**
   * Throws RATE_LIMITED. A signal is an operator's action and never waits. `projectOf`: asked only where projects have their
   * own limits.
   */
  spend(tenantId: string, projectOf: () => Promise<string>): Promise<void>;
}

export function createSignalThrottle(
  store: AccessStore,
  rates: SharedRate & { readonly perTenantSignalsPerMinute: number },
): SignalThrottle {
  const { perTenantSignalsPerMinute: perMinute, algorithm, perProject } = rates;
  const message = `your ${ownerOf(rates)} may send ${perMinute} signals a minute`;
  return {
    async spend(tenantId, projectOf) {
      const projectId = perProject && perMinute > 0 ? await projectOf() : undefined;
      await spendOne(store, {
        ...{ algorithm, mayWaitMs: 0, perMinute, message, key: keyOf('signals', rates, tenantId, projectId) },
      });
    },
  };
}

/** From a shared limit: how long to wait for a place, 0 = go now. */
async function spendOne(
  store: AccessStore,
  { message, ...asked }: Parameters<AccessStore['rateReserve']>[0] & { readonly message: string },
): Promise<number> {
  if (asked.perMinute === 0) return 0;
  const { granted, waitMs } = await store.rateReserve(asked);
  if (granted) return waitMs;
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  const exhausted: Exhausted = { limit: asked.perMinute, remaining: 0, retryAfterSeconds };
  throw new PawlError('RATE_LIMITED', message, { ...exhausted });
}

function rateLimited(message: string, limit: number, tokens: number, perSecond: number): PawlError {
  const retryAfterSeconds = Math.max(1, Math.ceil((1 - tokens) / perSecond));
  return new PawlError('RATE_LIMITED', message, { limit, remaining: 0, retryAfterSeconds } satisfies Exhausted);
}

/** The fields that the answer to a held start adds. */
export const plannedStart = (hold: StartHold | undefined) =>
  hold?.policy === 'DELAY' ? { plannedStartAt: new Date(Date.now() + hold.waitMs).toISOString() } : {};

export function tooManyStreams(): PawlError {
  const message = 'too many event streams are open; ask for pages of events, or try again';
  return new PawlError('UNAVAILABLE', message, { retryAfterSeconds: 5 });
}

export function tooManyWaits(): PawlError {
  const message = 'too many requests wait for something to happen; ask without `wait`, or try again';
  return new PawlError('UNAVAILABLE', message, { retryAfterSeconds: 5 });
}

export function overloaded(): PawlError {
  return new PawlError('UNAVAILABLE', 'too many requests are in progress; try again', { retryAfterSeconds: 1 });
}
