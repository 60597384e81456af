// How many heavy steps a tenant may begin in a minute, over all processes. A step over the limit either waits before its action
// starts, while its timeout does not run yet, or fails with RATE_LIMITED and is retried by its policy (I22).

import type { AttemptRequest, AttemptResult, RunAttempt } from '../action/attempt.ts';
import type { StopSignal } from '../action/stop.ts';
import type { Timers } from '../clock/timers.ts';
import { isHeavy } from '../core/plan/task-queue.ts';
import type { RateAlgorithm } from '../protocol/quota.ts';
import type { AccessStore } from '../store/access-port.ts';

export interface HeavyStepRate {
  /** 0: unlimited. */
  readonly perTenantHeavyStepsPerMinute: number;
  readonly perProject: boolean;
  readonly algorithm: RateAlgorithm;
  readonly whenExceeded: 'REJECT' | 'QUEUE' | 'DELAY';
  readonly maxHoldMs: number;
}

export interface HeavyStepDeps {
  readonly store: Pick<AccessStore, 'rateReserve'>;
  readonly timers: Timers;
  readonly rate: HeavyStepRate;
}

type Step = Pick<AttemptRequest, 'actionType' | 'tenantId' | 'projectId'>;

/** When the step may begin: after a wait, at once (0), or not now, which is a result. */
export type Admission = { readonly waitMs: number } | { readonly refused: AttemptResult };

const AT_ONCE: Admission = { waitMs: 0 };

export function limitHeavySteps(deps: HeavyStepDeps, run: RunAttempt): RunAttempt {
  if (deps.rate.perTenantHeavyStepsPerMinute === 0) return run;
  return (request) => (isHeavy(request.actionType) ? whenThereIsRoom(deps, request, run) : run(request));
}

export async function admitHeavyStep({ store, rate }: HeavyStepDeps, step: Step): Promise<Admission> {
  const { perTenantHeavyStepsPerMinute: perMinute, algorithm, perProject, whenExceeded, maxHoldMs } = rate;
  if (perMinute === 0 || !isHeavy(step.actionType)) return AT_ONCE;
  const { tenantId, projectId = 'default' } = step;
  const mayWaitMs = whenExceeded === 'REJECT' ? 0 : maxHoldMs;
  const key = perProject ? `heavy:${tenantId}:${projectId}` : `heavy:${tenantId}`;
  // A database that does not answer must not stop the work: the limit is only for fairness.
  const asked = store.rateReserve({ key, algorithm, perMinute, mayWaitMs });
  const { granted, waitMs } = await asked.catch(() => ({ granted: true, waitMs: 0 }));
  if (granted) return { waitMs };
  const message = `your ${perProject ? 'project' : 'tenant'} may begin ${perMinute} heavy steps a minute`;
  return {
    refused: { ok: false, error: { code: 'RATE_LIMITED', message }, retryable: true, retryAfterMs: waitMs },
  };
}

async function whenThereIsRoom(deps: HeavyStepDeps, request: AttemptRequest, run: RunAttempt): Promise<AttemptResult> {
  const admission = await admitHeavyStep(deps, request);
  if ('refused' in admission) return admission.refused;
  const { waitMs } = admission;
  if (waitMs === 0) return run(request);
  await sleep(deps.timers, waitMs, request.signal);
  if (request.signal.aborted) return NOT_BEGUN;
  const result = await run(request);
  return { ...result, waitedMs: (result.waitedMs ?? 0) + waitMs };
}

const NOT_BEGUN: AttemptResult = {
  ok: false,
  error: { code: 'CANCELLED', message: 'The execution stopped before the attempt began' },
  retryable: false,
  aborted: true,
};

function sleep(timers: Timers, waitMs: number, signal: StopSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      forget();
      signal.removeEventListener('abort', over);
      resolve();
    };
    const forget = timers.after(waitMs, over);
    signal.addEventListener('abort', over);
    if (signal.aborted) over();
  });
}
