// How often a token may ask, and how often a workflow may be started (000 §12.3): token buckets in the database, so that all
// processes share them.

import { ERROR_CODES } from '../core/error/codes.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import type { AccessStore } from '../store/access-port.ts';

export interface RateLimiter {
  /** Takes one request from the caller's bucket. */
  spend(key: string): Promise<Spent>;
}

export interface Spent {
  readonly allowed: boolean;
  /** X-RateLimit-Limit, X-RateLimit-Remaining and, when refused, Retry-After. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface WorkflowThrottle {
  /** Throws RATE_LIMITED. */
  spend(tenantId: string, workflowId: string): Promise<void>;
}

export interface Rate {
  readonly perMinute: number;
  readonly burst: number;
}

export function createRateLimiter(store: AccessStore, { perMinute, burst }: Rate): RateLimiter {
  const perSecond = perMinute / 60;
  return {
    async spend(key) {
      const { allowed, tokens } = await store.rateSpend({ key: `token:${key}`, perSecond, burst });
      const limits = { 'x-ratelimit-limit': String(burst), 'x-ratelimit-remaining': String(Math.floor(tokens)) };
      return { allowed, headers: allowed ? limits : { ...limits, 'retry-after': waitSeconds(tokens, perSecond) } };
    },
  };
}

export function createWorkflowThrottle(store: AccessStore, perMinute: number): WorkflowThrottle {
  const perSecond = perMinute / 60;
  return {
    async spend(tenantId, workflowId) {
      const key = `workflow:${tenantId}:${workflowId}`;
      const { allowed, tokens } = await store.rateSpend({ key, perSecond, burst: perMinute });
      if (allowed) return;
      const message = `workflow "${workflowId}" may be started ${perMinute} times a minute`;
      throw new PawlError('RATE_LIMITED', message, { retryAfterSeconds: Number(waitSeconds(tokens, perSecond)) });
    },
  };
}

const waitSeconds = (tokens: number, perSecond: number): string =>
  String(Math.max(1, Math.ceil((1 - tokens) / perSecond)));

export function rateLimited(): PawlError {
  return new PawlError('RATE_LIMITED', ERROR_CODES.RATE_LIMITED.message);
}

export function overloaded(): PawlError {
  return new PawlError('UNAVAILABLE', 'too many requests are in progress; try again', { retryAfterSeconds: 1 });
}
