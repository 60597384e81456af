import { describe, expect, it } from 'vitest';
import type { AttemptRequest, AttemptResult } from '../action/attempt.ts';
import { handTimers, settled } from '../clock/hand-timers.testing.ts';
import { UsageMeter } from './usage-meter.ts';

const DONE: AttemptResult = { ok: true, outputsText: '{}' };

function setup() {
  const timers = handTimers();
  const written: { tenantId: string; executions: number }[][] = [];
  const database = { isAway: false };
  const store = {
    async usageAdd({ items }: { items: { tenantId: string; executions: number }[] }) {
      if (database.isAway) throw new Error('the database is away');
      written.push(items);
    },
  };
  const isCounted = (tenantId: string) => tenantId !== 'unlimited';
  const meter = new UsageMeter({ store, timers, observer: { warn() {} }, isCounted });
  const run = meter.measure(async () => DONE);
  const attempt = (tenantId: string, number = 1, actionType = 'http.step') =>
    run({ tenantId, actionType, attempt: number } as AttemptRequest);
  const pass = async (ms: number) => {
    timers.advance(ms);
    await settled();
  };
  return { meter, attempt, written, database, pass };
}

describe('the usage meter', () => {
  it('first attempts of HTTP steps of tenants with a quota are counted, and written together', async () => {
    const { attempt, written, pass } = setup();
    await Promise.all([attempt('a'), attempt('b'), attempt('a'), attempt('a', 2), attempt('unlimited')]);
    await attempt('a', 1, 'http.request');
    expect(written).toEqual([]);
    await pass(500);
    expect(written).toEqual([
      [
        { tenantId: 'a', executions: 2 },
        { tenantId: 'b', executions: 1 },
      ],
    ]);
    await pass(5_000);
    expect(written).toHaveLength(1);
  });

  it('no count is lost while the database is away, and the rest is written at the stop', async () => {
    const { meter, attempt, written, database, pass } = setup();
    await attempt('a');
    database.isAway = true;
    await pass(500);
    await attempt('a');
    database.isAway = false;
    await pass(500);
    expect(written).toEqual([[{ tenantId: 'a', executions: 2 }]]);
    await attempt('b');
    await meter.stop();
    expect(written.at(-1)).toEqual([{ tenantId: 'b', executions: 1 }]);
  });
});
