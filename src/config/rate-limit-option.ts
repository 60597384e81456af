// The options of rate limits: requests per token, starts per workflow, and starts, signals and heavy steps per tenant.

import { z } from 'zod';
import { RATE_ALGORITHMS } from '../protocol/quota.ts';
import { atLeast, flag } from './option-form.ts';

export const rateLimitSection = z.strictObject({
  perTokenPerMinute: atLeast(1, 60).describe('requests that one token may make in a minute'),
  perTokenBurst: atLeast(1, 120).describe('requests that one token may make at once'),
  readsPerTokenPerMinute: atLeast(1, 600).describe(
    'read requests (GET) that one token may make in a minute; they have a bucket of their own',
  ),
  readsPerTokenBurst: atLeast(1, 300).describe('read requests that one token may make at once'),
  perWorkflowPerMinute: atLeast(0, 0).describe('executions of one workflow that may start in a minute; 0 = no limit'),
  perTenantStartsPerMinute: atLeast(0, 0).describe(
    'executions and runs that one tenant may start in a minute, over all processes; 0 = no limit',
  ),
  perTenantSignalsPerMinute: atLeast(0, 0).describe(
    'signals that one tenant may send in a minute, over all processes; 0 = no limit',
  ),
  perTenantHeavyStepsPerMinute: atLeast(0, 0).describe(
    'attempts of heavy steps (`DBT_*`) that one tenant may begin in a minute, over all processes; 0 = no limit',
  ),
  perProject: flag(false).describe(
    'each project of a tenant has the limits of starts, heavy steps and signals for itself',
  ),
  algorithm: z
    .enum(RATE_ALGORITHMS)
    .default('token-bucket')
    .describe('how starts, heavy steps and signals are counted'),
  whenExceeded: z
    .enum(['REJECT', 'QUEUE', 'DELAY'])
    .default('REJECT')
    .describe(
      'starts and heavy steps over the limit: refused (429), accepted as Pending, or accepted with a planned start time',
    ),
  maxHoldMs: atLeast(1, 3_600_000).describe(
    'how long a start may be held by `QUEUE` or `DELAY`; beyond that it is refused',
  ),
});
