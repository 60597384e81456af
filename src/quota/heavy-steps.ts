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

export function limitHeavySteps(deps: HeavyStepDeps, run: RunAttempt): RunAttempt {
  if (deps.rate.perTenantHeavyStepsPerMinute === 0) return run;
  return (request) => (isHeavy(request.actionType) ? whenThereIsRoom(deps, request, run) : run(request));
}

async function whenThereIsRoom(
  { store, timers, rate }: HeavyStepDeps,
  request: AttemptRequest,
  run: RunAttempt,
): Promise<AttemptResult> {
  const { perTenantHeavyStepsPerMinute: perMinute, algorithm, perProject, whenExceeded, maxHoldMs } = rate;
  const { tenantId, projectId = 'default' } = request;
  const mayWaitMs = whenExceeded === 'REJECT' ? 0 : maxHoldMs;
  const key = perProject ? `heavy:${tenantId}:${projectId}` : `heavy:${tenantId}`;
  // A database that does not answer must not stop the work: the limit is only for fairness.
  const asked = store.rateReserve({ key, algorithm, perMinute, mayWaitMs });
  const { granted, waitMs } = await asked.catch(() => ({ granted: true, waitMs: 0 }));
  if (!granted) {
    const message = `your ${perProject ? 'project' : 'tenant'} may begin ${perMinute} heavy steps a minute`;
    return { ok: false, error: { code: 'RATE_LIMITED', message }, retryable: true, retryAfterMs: waitMs };
  }
  if (waitMs === 0) return run(request);
  await sleep(timers, waitMs, request.signal);
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
