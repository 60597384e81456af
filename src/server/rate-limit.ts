// How often a token may ask, and how often a workflow may be started: token buckets in the database, so that all
// processes share them.

import { ERROR_CODES } from '../core/error/codes.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import type { AccessStore } from '../store/access-port.ts';
import type { ExecutionReader } from '../store/reader-port.ts';

export interface RateLimiter {
  /** Takes one request from the caller's bucket and says what is left, as headers; throws RATE_LIMITED. */
  spend(key: string): Promise<Readonly<Record<string, string>>>;
}

export interface WorkflowThrottle {
  /** Throws RATE_LIMITED. A request that was made before starts nothing, and costs nothing. */
  spend(start: { readonly tenantId: string; readonly workflowId: string; readonly requestId?: string }): Promise<void>;
}

/** What a refusal by a bucket carries, in the answer and in its headers. */
export interface Exhausted {
  readonly limit: number;
  readonly remaining: number;
  readonly retryAfterSeconds: number;
}

export interface Rate {
  readonly perMinute: number;
  readonly burst: number;
}

/** `kind`: which bucket of the token; reading has one of its own, because a page of a dashboard is several requests. */
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

export interface StartRates {
  /** 0: any number. */
  readonly perWorkflowPerMinute: number;
  readonly perTenantStartsPerMinute: number;
}

export function createWorkflowThrottle(store: ThrottleStore, rates: StartRates): WorkflowThrottle {
  const { perWorkflowPerMinute, perTenantStartsPerMinute } = rates;
  return {
    async spend({ tenantId, workflowId, requestId }) {
      if (requestId !== undefined && (await store.executionByRequest({ tenantId, requestId })) !== null) return;
      const ofWorkflow = `workflow "${workflowId}" may be started ${perWorkflowPerMinute} times a minute`;
      await spendOne(store, `workflow:${tenantId}:${workflowId}`, perWorkflowPerMinute, ofWorkflow);
      const ofTenant = `your tenant may start ${perTenantStartsPerMinute} executions a minute`;
      await spendOne(store, `starts:${tenantId}`, perTenantStartsPerMinute, ofTenant);
    },
  };
}

export interface SignalThrottle {
  /** Throws RATE_LIMITED. */
  spend(tenantId: string): Promise<void>;
}

export function createSignalThrottle(
  store: AccessStore,
  { perTenantSignalsPerMinute: perMinute }: { readonly perTenantSignalsPerMinute: number },
): SignalThrottle {
  const message = `your tenant may send ${perMinute} signals a minute`;
  return { spend: (tenantId) => spendOne(store, `signals:${tenantId}`, perMinute, message) };
}

/** From a bucket that all processes share. */
async function spendOne(store: AccessStore, key: string, perMinute: number, message: string): Promise<void> {
  if (perMinute === 0) return;
  const perSecond = perMinute / 60;
  const { allowed, tokens } = await store.rateSpend({ key, perSecond, burst: perMinute });
  if (!allowed) throw rateLimited(message, perMinute, tokens, perSecond);
}

function rateLimited(message: string, limit: number, tokens: number, perSecond: number): PawlError {
  const retryAfterSeconds = Math.max(1, Math.ceil((1 - tokens) / perSecond));
  return new PawlError('RATE_LIMITED', message, { limit, remaining: 0, retryAfterSeconds } satisfies Exhausted);
}

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
