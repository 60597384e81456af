import { describe, expect, it } from 'vitest';
import type { AttemptRequest, AttemptResult } from '../action/attempt.ts';
import { Stop } from '../action/stop.ts';
import { handTimers, settled } from '../clock/hand-timers.testing.ts';
import { limitHeavySteps } from './heavy-steps.ts';

const DONE: AttemptResult = { ok: true, outputsText: '{}' };

function setup(whenExceeded: 'REJECT' | 'QUEUE', answer: { granted: boolean; waitMs: number } | Error) {
  const timers = handTimers();
  const asked: { key: string; mayWaitMs: number }[] = [];
  const store = {
    async rateReserve({ key, mayWaitMs }: { key: string; mayWaitMs: number }) {
      asked.push({ key, mayWaitMs });
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const ran: string[] = [];
  const rate = { perTenantHeavyStepsPerMinute: 3, perProject: true, algorithm: 'sliding-log', maxHoldMs: 9 } as const;
  const run = limitHeavySteps({ store, timers, rate: { ...rate, whenExceeded } }, ({ actionType }) => {
    ran.push(actionType);
    return DONE;
  });
  const stop = new Stop();
  const attempt = (actionType: string) =>
    run({ tenantId: 'acme', projectId: 'p', actionType, signal: stop } as unknown as AttemptRequest);
  return { attempt, asked, ran, timers, stop };
}

describe('the limit of heavy steps', () => {
  it('only heavy steps are limited, by tenant and project', async () => {
    const { attempt, asked, ran } = setup('REJECT', { granted: true, waitMs: 0 });
    expect(attempt('http.request')).toBe(DONE);
    await attempt('DBT_RUN');
    expect(asked).toEqual([{ key: 'heavy:acme:p', mayWaitMs: 0 }]);
    expect(ran).toEqual(['http.request', 'DBT_RUN']);
  });

  it('an attempt over the limit fails with RATE_LIMITED and may be retried', async () => {
    const { attempt, ran } = setup('REJECT', { granted: false, waitMs: 1_500 });
    const refused = { ok: false, error: { code: 'RATE_LIMITED' }, retryable: true, retryAfterMs: 1_500 };
    expect(await attempt('DBT_RUN')).toMatchObject(refused);
    expect(ran).toEqual([]);
  });

  it('an attempt waits for its place, and reports how long it waited', async () => {
    const { attempt, ran, timers } = setup('QUEUE', { granted: true, waitMs: 1_500 });
    const result = attempt('DBT_RUN');
    await settled();
    expect(ran).toEqual([]);
    timers.advance(1_500);
    expect(await result).toEqual({ ...DONE, waitedMs: 1_500 });
  });

  it('an aborted attempt stops waiting, and does not run', async () => {
    const { attempt, ran, stop } = setup('QUEUE', { granted: true, waitMs: 1_500 });
    const result = attempt('DBT_RUN');
    await settled();
    stop.abort();
    expect(await result).toMatchObject({ ok: false, aborted: true });
    expect(ran).toEqual([]);
  });

  it('an attempt runs when the limit cannot be checked', async () => {
    const { attempt } = setup('QUEUE', new Error('the database is away'));
    expect(await attempt('DBT_RUN')).toBe(DONE);
  });
});
