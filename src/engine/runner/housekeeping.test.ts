import { expect, it } from 'vitest';
import { createClock } from '../../clock/clock.ts';
import { handTimers, settled } from '../../clock/hand-timers.testing.ts';
import type { Store } from '../../store/port.ts';
import { Housekeeping } from './housekeeping.ts';

const TEN_MINUTES_MS = 600_000;

function setup(purged: number[] = []) {
  const timers = handTimers();
  let looked = 0;
  const heard: string[] = [];
  const audits: PromiseWithResolvers<Awaited<ReturnType<Store['queueAudit']>>>[] = [];
  const housekeeping = new Housekeeping({
    store: {
      retentionPurge: async () => {
        looked++;
        return purged.shift() ?? 0;
      },
      queueAudit: () => {
        const audit = Promise.withResolvers<Awaited<ReturnType<Store['queueAudit']>>>();
        audits.push(audit);
        return audit.promise;
      },
    },
    timers,
    clock: createClock(timers),
    observer: { count: (what) => void heard.push(what), warn: (event) => void heard.push(event) },
    options: { retentionMs: 0 },
  });
  const later = async () => {
    timers.advance(TEN_MINUTES_MS);
    await housekeeping.runOnce();
  };
  return { housekeeping, timers, audits, heard, later, looks: () => looked };
}

it('nothing waits for the audit, and only one audit runs at a time', async () => {
  const { housekeeping, audits, heard, later } = setup();
  await housekeeping.runOnce();
  expect(audits).toHaveLength(0);
  await later();
  await later();
  expect(audits).toHaveLength(1);
  audits[0]!.resolve([{ executionId: 'e', problem: 'neither in the queue nor ended' }]);
  await housekeeping.settled();
  expect(heard).toEqual(['audits', 'auditViolations', 'a live execution has no wake-up']);
  await later();
  expect(audits).toHaveLength(2);
});

it('a failed audit is reported, and the next audit runs', async () => {
  const { housekeeping, audits, heard, later } = setup();
  await later();
  audits[0]!.reject(new Error('away'));
  await housekeeping.settled();
  expect(heard).toEqual(['audits', 'the audit failed']);
  await later();
  expect(audits).toHaveLength(2);
});

it('a stop waits until the audit is over', async () => {
  const { housekeeping, audits, later } = setup();
  await later();
  let isOver = false;
  const over = housekeeping.settled().then(() => {
    isOver = true;
  });
  await settled();
  expect(isOver).toBe(false);
  audits[0]!.resolve([]);
  await over;
  expect(isOver).toBe(true);
});

it('old executions are purged until none is left, not one portion per tick', async () => {
  const purged = [2_000, 2_000, 2_000, 17, 2_000];
  const { later } = setup(purged);
  await later();
  await settled();
  expect(purged).toEqual([2_000]);
});

it('the purge runs less often when there is nothing to purge, and more often when there is', async () => {
  const { housekeeping, timers, looks } = setup([0, 0, 0, 7, 0]);
  const looksWithin = async (seconds: number) => {
    const before = looks();
    for (let second = 0; second < seconds; second++) {
      timers.advance(1_000);
      await housekeeping.runOnce();
      await settled();
    }
    return looks() - before;
  };
  expect(await looksWithin(5)).toBe(1);
  expect(await looksWithin(10)).toBe(1);
  expect(await looksWithin(20)).toBe(1);
  // The fourth look finds seven.
  expect(await looksWithin(40)).toBe(1);
  expect(await looksWithin(5)).toBe(1);
});
