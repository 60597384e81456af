// Claiming: oldest first within a lane, never twice, never what the runner does not understand.

import { expect, it } from 'vitest';
import { CANCEL_LANE, type Store } from '../port.ts';
import {
  AWKWARD_JSON,
  claim,
  claimedIds,
  newMessage,
  newRunner,
  owning,
  start,
  statusOf,
  TENANT,
} from './builder.testing.ts';

export function describeClaim(store: () => Store): void {
  it('hands out what is ready, oldest first, and tells what is needed to run it', async () => {
    const [first] = await start(store(), { workflowId: 'a', version: 7 });
    const [second] = await start(store(), {});
    const { claimed, at } = await claim(store(), (await newRunner(store())).slot);
    expect(claimed.map(({ executionId }) => executionId).sort()).toEqual([first, second].sort());
    expect(claimed.find(({ executionId }) => executionId === first)).toMatchObject({
      tenantId: TENANT,
      workflowId: 'a',
      version: 7,
      priority: 5,
      epoch: 1,
      crashes: 0,
    });
    for (const { readyAt } of claimed) expect(readyAt).toBeLessThanOrEqual(at);
    expect(await statusOf(store(), first!)).toBe('Running');
  });

  it('brings along what was never claimed before and has no mail, as loading would', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const [fresh, written] = await start(store(), { trigger: AWKWARD_JSON, traceparent }, {});
    await store().inboxSend({ tenantId: TENANT, message: newMessage(written!) });
    const { slot } = await newRunner(store());
    const { claimed } = await claim(store(), slot);
    const of = (id: string) => claimed.find(({ executionId }) => executionId === id)!.execution;
    const [loaded] = await store().executionLoad({ executionIds: [fresh!], deciderVersion: 1 });
    expect(of(fresh!)).toEqual(loaded);
    expect(of(written!)).toBeNull();
    await store().executionRelease({ slotId: slot, items: [{ executionId: fresh!, epoch: 1 }] });
    const again = await claim(store(), slot);
    expect(again.claimed).toMatchObject([{ executionId: fresh, epoch: 2, execution: null }]);
  });

  it('finds what is to be cancelled in a lane of its own, above all priorities', async () => {
    const [cancelled, told, waiting] = await start(store(), { priority: 2 }, {}, {});
    const { slot } = await newRunner(store());
    await store().inboxSend({ tenantId: TENANT, message: newMessage(cancelled!, { kind: 'cancel' }) });
    await store().inboxSend({ tenantId: TENANT, message: newMessage(told!) });
    const lanes = [{ tenantId: TENANT, priority: CANCEL_LANE, mark: 0 }];
    const { claimed } = await claim(store(), slot, { lanes });
    expect(claimed).toMatchObject([{ executionId: cancelled, execution: null }]);
    const [execution] = await store().executionLoad({ executionIds: [cancelled!], deciderVersion: 1 });
    expect(execution).toMatchObject({ priority: 2 });
    expect((await claimedIds(store(), slot)).sort()).toEqual([told, waiting].sort());
  });

  it('leaves executions of the workflows it is told, but for those with mail', async () => {
    const [crowd, told, free] = await start(store(), { workflowId: 'x' }, { workflowId: 'x' }, { workflowId: 'y' });
    await store().inboxSend({ tenantId: TENANT, message: newMessage(told!) });
    const { slot } = await newRunner(store());
    const ids = async (except?: { tenantId: string; workflowId: string }[]) =>
      (await claim(store(), slot, except === undefined ? {} : { except })).claimed.map(
        ({ executionId }) => executionId,
      );
    expect((await ids([{ tenantId: TENANT, workflowId: 'x' }])).sort()).toEqual([told, free].sort());
    expect(await ids([{ tenantId: 'other', workflowId: 'x' }])).toEqual([crowd]);
  });

  it('takes the oldest of a lane first', async () => {
    const order = [await start(store(), {}), await start(store(), {}), await start(store(), {})].flat();
    const { slot } = await newRunner(store());
    const taken: string[] = [];
    for (let i = 0; i < 3; i++) {
      const { claimed } = await claim(store(), slot, { perLane: 1 });
      taken.push(...claimed.map(({ executionId }) => executionId));
    }
    expect(taken).toEqual(order);
  });

  it('tells the time even when there is nothing to claim', async () => {
    const before = await store().now();
    const { claimed, at } = await claim(store(), (await newRunner(store())).slot);
    expect(claimed).toEqual([]);
    expect(at).toBeGreaterThanOrEqual(before);
  });

  it('visits the lanes it is given, up to so many of each and in all', async () => {
    await start(
      store(),
      ...Array.from({ length: 4 }, () => ({})),
      ...Array.from({ length: 4 }, () => ({ priority: 1 })),
    );
    await start(store(), { tenantId: 'other' });
    const { slot } = await newRunner(store());
    const lanes = [1, 5].map((priority) => ({ tenantId: TENANT, priority, mark: 0 }));
    const first = await claim(store(), slot, { lanes, perLane: 2 });
    expect(first.claimed.map(({ priority }) => priority).sort()).toEqual([1, 1, 5, 5]);
    const second = await claim(store(), slot, { lanes, perLane: 2, limit: 3 });
    expect(second.claimed).toHaveLength(3);
  });

  it('finds the lanes that have something ready', async () => {
    await start(store(), { priority: 9 }, { priority: 1 }, { priority: 1 }, { tenantId: 'b' });
    const lanes = [
      { tenantId: TENANT, priority: 1 },
      { tenantId: TENANT, priority: 9 },
      { tenantId: 'b', priority: 5 },
    ];
    const found = await store().queueLanes({ limit: 10 });
    expect(found).toMatchObject(lanes);
    expect(await store().queueLanes({ limit: 2 })).toEqual(found.slice(0, 2));
    for (const [place, after] of found.entries()) {
      expect(await store().queueLanes({ limit: 10, after })).toEqual(found.slice(place + 1));
    }
    await claim(store(), (await newRunner(store())).slot, { lanes: lanes.map((lane) => ({ ...lane, mark: 0 })) });
    expect(await store().queueLanes({ limit: 10 })).toEqual([]);
  });

  it('tells of each lane since when its oldest has waited', async () => {
    await start(store(), {});
    const [before] = await store().queueLanes({ limit: 1 });
    await start(store(), {});
    expect(await store().queueLanes({ limit: 1 })).toEqual([before]);
    const { claimed } = await claim(store(), (await newRunner(store())).slot, { limit: 1, perLane: 1 });
    expect(claimed[0]!.readyAt).toBe(before!.oldestReadyAt);
  });

  it('leaves out what became ready before the mark', async () => {
    await start(store(), {});
    const { slot } = await newRunner(store());
    const mark = (await store().now()) + 1000;
    const lane = { tenantId: TENANT, priority: 5 };
    expect((await claim(store(), slot, { lanes: [{ ...lane, mark }] })).claimed).toEqual([]);
    expect((await claim(store(), slot, { lanes: [{ ...lane, mark: mark - 60_000 }] })).claimed).toHaveLength(1);
  });

  it('leaves executions of a newer behaviour to runners that understand them', async () => {
    await start(store(), { behaviour: 2 }, { behaviour: 1 });
    const { slot } = await newRunner(store());
    expect((await claim(store(), slot, { behaviour: 1 })).claimed).toHaveLength(1);
    expect((await claim(store(), slot, { behaviour: 2 })).claimed).toHaveLength(1);
  });

  it('leaves executions whose owners crashed too often', async () => {
    const { runner, ids } = await owning(store(), 1);
    await store().runnerDeclareDead({ runnerId: runner.runnerId });
    const [fresh] = await start(store(), {});
    const { slot } = await newRunner(store());
    expect((await claim(store(), slot, { maxCrashes: 0 })).claimed.map(({ executionId }) => executionId)).toEqual([
      fresh,
    ]);
    expect((await claim(store(), slot, { maxCrashes: 1 })).claimed.map(({ executionId }) => executionId)).toEqual(ids);
  });

  it('takes as many suspects as will run, those with the fewest crashes first', async () => {
    await start(store(), {});
    for (let deaths = 1; deaths <= 3; deaths++) {
      if (deaths === 2) await start(store(), {}, {}, {});
      const { slot, runnerId } = await newRunner(store());
      await claimedIds(store(), slot);
      await store().runnerDeclareDead({ runnerId });
    }
    await start(store(), {});
    const { slot } = await newRunner(store());
    const take = async (atMost: number) =>
      (await claim(store(), slot, { suspects: { atMost, lastChance: 3 } })).claimed.map(({ crashes }) => crashes);
    expect((await take(2)).sort()).toEqual([0, 2, 2]);
    expect(await take(0)).toEqual([]);
    expect(await take(2)).toEqual([2]);
    expect(await take(2)).toEqual([]);
  });

  it('leaves an execution on its last chance, says where, and takes it alone when asked', async () => {
    const suspects = { atMost: 10, lastChance: 2 };
    const [suspect] = await start(store(), {});
    for (let deaths = 1; deaths <= 2; deaths++) {
      const { slot, runnerId } = await newRunner(store());
      await claimedIds(store(), slot);
      await store().runnerDeclareDead({ runnerId });
    }
    const [fresh] = await start(store(), {});
    const { slot } = await newRunner(store());
    const take = (alone: boolean) => claim(store(), slot, { suspects, alone });
    const idsOf = ({ claimed }: Awaited<ReturnType<typeof take>>) => claimed.map(({ executionId }) => executionId);
    const left = await take(false);
    expect(idsOf(left)).toEqual([fresh]);
    expect(left.leftAlone).toEqual({ tenantId: TENANT, priority: 5 });
    await start(store(), {});
    const alone = await take(true);
    expect(idsOf(alone)).toEqual([suspect]);
    expect(alone.leftAlone).toBeNull();
    expect((await take(false)).leftAlone).toBeNull();
  });

  it('gives each execution to one of many that claim at once', async () => {
    const ids = await start(store(), ...Array.from({ length: 60 }, () => ({})));
    const runners = await Promise.all(Array.from({ length: 6 }, () => newRunner(store())));
    const claims = await Promise.all(runners.map(({ slot }) => claimedIds(store(), slot)));
    const rest = await claimedIds(store(), runners[0]!.slot);
    expect([...claims.flat(), ...rest].sort()).toEqual(ids.toSorted());
  });
}
