import { describe, expect, it } from 'vitest';
import { handTimers, settled } from '../clock/hand-timers.testing.ts';
import { NO_LIMITS, QUOTA_PRESETS, type QuotaLimits } from '../protocol/quota.ts';
import { QuotaBook } from './quota-book.ts';

async function setup(first: Record<string, QuotaLimits>, liveRunners = 1) {
  const timers = handTimers();
  const warnings: string[] = [];
  const observer = { warn: (event: string) => void warnings.push(event) };
  const asked: number[] = [];
  let answer: { limits: Record<string, QuotaLimits>; liveRunners: number } | null = { limits: first, liveRunners };
  const store = {
    async quotaChanges({ after }: { after: number }) {
      asked.push(after);
      if (answer === null) throw new Error('the database is away');
      const quotas = Object.entries(answer.limits).map(([tenantId, limits]) => ({ tenantId, preset: null, limits }));
      return { quotas, liveRunners: answer.liveRunners, at: 1_000 * asked.length };
    },
  };
  const book = new QuotaBook({ store, timers, observer });
  await book.start();
  const tick = async (next: typeof answer) => {
    answer = next;
    timers.advance(10_000);
    await settled();
  };
  return { book, asked, tick };
}

describe('the quota book', () => {
  it('the quota book knows which tenants are limited, and by what', async () => {
    const month = { ...NO_LIMITS, executionsPerMonth: 5 };
    const { book } = await setup({ free: QUOTA_PRESETS.free, month, cron: { ...NO_LIMITS, cron: false } });
    const about = (tenant: string) => [book.isCounted(tenant), book.limitsRuns(tenant), book.httpStepsAtOnce(tenant)];
    expect(about('free')).toEqual([true, true, 5]);
    expect(about('month')).toEqual([true, true, Number.POSITIVE_INFINITY]);
    expect(about('cron')).toEqual([true, false, Number.POSITIVE_INFINITY]);
    expect(about('anybody')).toEqual([false, false, Number.POSITIVE_INFINITY]);
  });

  it('the quota book polls for changes, and goes on after the database was away', async () => {
    const { book, asked, tick } = await setup({ acme: QUOTA_PRESETS.free });
    await tick(null);
    expect(book.limitsRuns('acme')).toBe(true);
    await tick({ limits: { acme: NO_LIMITS, globex: QUOTA_PRESETS.pro }, liveRunners: 1 });
    expect([book.isCounted('acme'), book.limitsRuns('globex')]).toEqual([false, true]);
    expect(asked).toEqual([0, 1_000, 1_000]);
    book.stop();
    await tick({ limits: {}, liveRunners: 1 });
    expect(asked).toHaveLength(3);
  });

  it.each([
    [2, 2],
    [5, 1],
    [8, 1],
  ])('each of %i runners gets %i of five places', async (runners, places) => {
    const { book } = await setup({ acme: QUOTA_PRESETS.pro }, runners);
    expect(book.httpStepsAtOnce('acme')).toBe(places);
  });
});
