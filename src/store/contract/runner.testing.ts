// Registration, leases, takeover and a graceful stop (I5, I6, I23).

import { expect, it } from 'vitest';
import type { Store } from '../port.ts';
import { anyEpoch, claim, claimedIds, newRunner, ownedIds, owning, start } from './builder.testing.ts';

export function describeRunner(store: () => Store): void {
  const expired = async (expiredForMs: number) =>
    (await store().runnerListLive({ expiredForMs })).flatMap(({ runnerId, isExpired }) =>
      isExpired ? [runnerId] : [],
    );

  it('knows which process a runner is and how busy, and tells it when it is asked to drain', async () => {
    const { runnerId } = await store().runnerRegister({
      ...{ name: 'a', slots: 1, leaseMs: 60_000 },
      ...{ host: 'machine-1', version: '1.2.3' },
    });
    const listed = async () => (await store().runnerList()).find((runner) => runner.runnerId === runnerId);
    expect(await listed()).toMatchObject({ host: 'machine-1', version: '1.2.3', places: null, isDraining: false });
    const places = { total: 200, busy: 3 };
    expect(await store().runnerReport({ runnerId, places })).toEqual({ isDraining: false });
    expect(await store().runnerDrain({ runnerId })).toBe(true);
    expect(await store().runnerReport({ runnerId, places })).toEqual({ isDraining: true });
    expect(await listed()).toMatchObject({ places, isDraining: true, state: 'live' });
    await store().runnerStop({ runnerId });
    expect(await store().runnerDrain({ runnerId })).toBe(false);
    expect(await store().runnerDrain({ runnerId: '999999999' })).toBe(false);
  });

  it('gives every incarnation its own id and slots', async () => {
    const [first, second] = await Promise.all(
      ['a', 'b'].map((name) => store().runnerRegister({ name, slots: 4, leaseMs: 1000 })),
    );
    expect(first!.runnerId).not.toBe(second!.runnerId);
    expect(new Set([...first!.slotIds, ...second!.slotIds]).size).toBe(8);
    const listed = await store().runnerList();
    expect(listed.map(({ state, owned }) => ({ state, owned }))).toEqual([
      { state: 'live', owned: 0 },
      { state: 'live', owned: 0 },
    ]);
  });

  it('lists a runner as expired only after its lease and the grace', async () => {
    const { runnerId } = await newRunner(store(), -1);
    await newRunner(store(), 60_000);
    expect(await expired(0)).toEqual([runnerId]);
    expect((await store().runnerList()).map(({ hasLease }) => hasLease)).toEqual([false, true]);
    expect(await expired(60_000)).toEqual([]);
  });

  it('renews a lease that has run out, as long as nobody declared the runner dead', async () => {
    const { runnerId } = await newRunner(store(), -1);
    expect(await store().leaseRenew({ runnerId, leaseMs: 60_000 })).toMatchObject({ renewed: true });
    expect(await expired(0)).toEqual([]);
    await store().runnerDeclareDead({ runnerId });
    expect(await store().leaseRenew({ runnerId, leaseMs: 60_000 })).toMatchObject({ renewed: false });
  });

  it('gives the executions of a dead runner to others, with one crash more and a new epoch', async () => {
    const { runner, ids } = await owning(store(), 3);
    expect(await store().runnerDeclareDead({ runnerId: runner.runnerId })).toEqual({ declared: true, released: 3 });
    expect(await store().runnerDeclareDead({ runnerId: runner.runnerId })).toEqual({ declared: false, released: 0 });
    expect(await store().runnerListLive({ expiredForMs: 0 })).toEqual([]);

    const heir = await newRunner(store());
    const { claimed } = await claim(store(), heir.slot);
    expect(claimed.map(({ executionId }) => executionId).sort()).toEqual(ids.toSorted());
    expect(claimed.map(({ epoch, crashes }) => [epoch, crashes])).toEqual([
      [2, 1],
      [2, 1],
      [2, 1],
    ]);
  });

  it('counts a crash past the last chance only for an execution that was alone in its runner', async () => {
    const lastChance = 1;
    const { runner, ids } = await owning(store(), 2);
    await store().runnerDeclareDead({ runnerId: runner.runnerId, lastChance });
    const crashesAfter = async (limit: number) => {
      const heir = await newRunner(store());
      const { claimed } = await claim(store(), heir.slot, { limit });
      await store().runnerDeclareDead({ runnerId: heir.runnerId, lastChance });
      return claimed.map(({ crashes }) => crashes);
    };
    expect(await crashesAfter(ids.length)).toEqual([1, 1]);
    expect(await crashesAfter(1)).toEqual([1]);
    expect((await crashesAfter(ids.length)).sort()).toEqual([1, 2]);
  });

  it('lets an execution wait that was there at several crashes, if that is wanted', async () => {
    const { runner, ids } = await owning(store(), 1);
    const declare = (runnerId: string) => store().runnerDeclareDead({ runnerId, suspectDelayMs: 60_000 });
    await declare(runner.runnerId);
    const heir = await newRunner(store());
    expect((await claim(store(), heir.slot)).claimed.map(({ executionId }) => executionId)).toEqual(ids);
    expect(await declare(heir.runnerId)).toEqual({ declared: true, released: 1 });
    expect((await claim(store(), (await newRunner(store())).slot)).claimed).toEqual([]);
    expect(await store().queueWake({ limit: 10 })).toMatchObject({ woken: 0 });
    expect(await store().queueAudit()).toEqual([]);
  });

  it('declares only a runner dead whose lease ran out long enough ago, if that is asked', async () => {
    const { runnerId } = await newRunner(store(), -1000);
    const declare = (expiredForMs: number) => store().runnerDeclareDead({ runnerId, expiredForMs });
    expect(await declare(60_000)).toEqual({ declared: false, released: 0 });
    await store().leaseRenew({ runnerId, leaseMs: 60_000 });
    expect(await declare(0)).toEqual({ declared: false, released: 0 });
    await store().leaseRenew({ runnerId, leaseMs: -1000 });
    expect(await declare(500)).toEqual({ declared: true, released: 0 });
  });

  it('releases each execution once when several declare the same runner dead', async () => {
    const { runner } = await owning(store(), 5);
    const results = await Promise.all(
      Array.from({ length: 8 }, () => store().runnerDeclareDead({ runnerId: runner.runnerId })),
    );
    expect(results.reduce((sum, { released }) => sum + released, 0)).toBe(5);
  });

  it('stops gracefully: executions go back without a crash', async () => {
    const { runner } = await owning(store(), 2);
    expect(await store().runnerStop({ runnerId: runner.runnerId })).toMatchObject({ released: 2 });
    expect((await store().runnerList()).map(({ state }) => state)).toEqual(['stopped']);
    const { claimed } = await claim(store(), (await newRunner(store())).slot);
    expect(claimed.map(({ crashes }) => crashes)).toEqual([0, 0]);
  });

  it('tells what a runner owns', async () => {
    const { runner, ids } = await owning(store(), 2);
    await start(store(), {});
    expect(await ownedIds(store(), runner.runnerId)).toEqual(ids.toSorted());
    const released = await store().executionRelease({ slotId: runner.slot, items: anyEpoch([ids[0]!]) });
    expect(released).toEqual([ids[0]]);
    expect(await ownedIds(store(), runner.runnerId)).toEqual([ids[1]]);
    expect((await store().runnerList())[0]).toMatchObject({ owned: 1 });
    expect(await claimedIds(store(), runner.slot)).toContain(ids[0]);
  });
}
