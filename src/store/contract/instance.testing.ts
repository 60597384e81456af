// Instances: the compare-and-set that turns every trigger into one move or none, timeouts, the timeline (I1, I8).

import { expect, it } from 'vitest';
import type { LifecycleMove } from '../lifecycle-port.ts';
import type { Store } from '../port.ts';
import { AWKWARD_JSON, newId, TENANT } from './builder.testing.ts';
import {
  apply,
  claimedGuids,
  deliveryOf,
  instanceOf,
  loanMachine,
  MINUTE_MS,
  newConsumer,
  newMessageRow,
  newMove,
  nextMove,
} from './messaging.testing.ts';

export function describeInstance(store: () => Store): void {
  describeMoves(store);
  describeRaces(store);
  describeStays(store);
  describeTimeouts(store);
  describeTimeline(store);
}

function describeMoves(store: () => Store): void {
  it('makes the instance with its first move, and moves it with the next', async () => {
    await store().lifecycleImport(loanMachine());
    const first = newMove('L-1', { dueAt: 5_000, timeoutsFired: 0 });
    expect(await apply(store(), { moves: [first] })).toMatchObject({ current: true, applied: [first.instanceId] });
    expect(await instanceOf(store(), 'L-1')).toEqual({
      tenantId: TENANT,
      env: 'prod',
      definition: 'loan',
      externalRef: 'L-1',
      instanceId: first.instanceId,
      version: 1,
      state: 'submitted',
      revision: 1,
      stateSince: 1_000,
      timeoutsFired: 0,
      dueAt: 5_000,
      createdAt: 1_000,
      seen: null,
    });
    const second = nextMove(first, { at: 2_000, stateSince: 2_000, timeoutsFired: 2, dueAt: null });
    expect((await apply(store(), { moves: [second] })).applied).toEqual([first.instanceId]);
    expect(await instanceOf(store(), 'L-1')).toMatchObject({
      state: 'approved',
      revision: 2,
      stateSince: 2_000,
      timeoutsFired: 2,
      dueAt: null,
      createdAt: 1_000,
    });
  });

  it('remembers with each transition what was sent about it', async () => {
    await store().lifecycleImport(loanMachine());
    const [loud, quiet] = [newMove('L-1'), newMove('L-2')];
    const messages = [newMessageRow(loud.instanceId), newMessageRow(loud.instanceId)];
    await apply(store(), { moves: [quiet, loud], messages });
    const sent = async (instanceId: string) =>
      (await store().timelineList({ tenantId: TENANT, instanceId, after: null, limit: 9 }))[0]!.messages;
    expect(await sent(loud.instanceId)).toEqual(messages.map(({ ackGuid }) => ackGuid));
    expect(await sent(quiet.instanceId)).toBeNull();
  });

  it('writes nothing of a move whose instance is elsewhere, and all of the others', async () => {
    await store().lifecycleImport(loanMachine());
    const consumerId = await newConsumer(store(), 'kyc');
    const known = newMove('L-1');
    await apply(store(), { moves: [known] });
    const late = nextMove(known, { revision: 2 });
    const taken = newMove('L-1', { requestId: 'r9' });
    const good = newMove('L-2');
    for (const wrong of [late, taken]) {
      const moves = [wrong, good];
      const messages = moves.map(({ instanceId }) => newMessageRow(instanceId));
      const deliveries = messages.map((message) => deliveryOf(message, consumerId));
      const { applied } = await apply(store(), { moves, messages, deliveries });
      expect(applied).not.toContain(wrong.instanceId);
      for (const { ackGuid, subjectId } of messages) {
        const detail = await store().deliveryGet({ tenantId: TENANT, ackGuid });
        expect(detail === null).toBe(!applied.includes(subjectId));
      }
    }
    expect(await instanceOf(store(), 'L-1')).toMatchObject({ state: 'submitted', revision: 1 });
    expect(await instanceOf(store(), 'L-2')).toMatchObject({ revision: 1 });
    expect(await claimedGuids(store(), consumerId)).toHaveLength(1);
  });

  it('applies a request once, and tells what it came to', async () => {
    await store().lifecycleImport(loanMachine());
    const first = newMove('L-1', { requestId: 'same' });
    await apply(store(), { moves: [first] });
    const again = nextMove(first, { requestId: 'same' });
    expect((await apply(store(), { moves: [again] })).applied).toEqual([]);
    expect(await instanceOf(store(), 'L-1', 'same')).toMatchObject({
      revision: 1,
      seen: { event: 'submit', fromState: 'draft', toState: 'submitted', revision: 1 },
    });
    const other = newMove('L-2', { requestId: 'same' });
    expect((await apply(store(), { moves: [other] })).applied).toEqual([other.instanceId]);
    expect(await instanceOf(store(), 'L-2', 'another')).toMatchObject({ seen: null });
  });

  it('finds the same batch applied when it is sent again', async () => {
    await store().lifecycleImport(loanMachine());
    const consumerId = await newConsumer(store(), 'kyc');
    const move = newMove('L-1');
    const message = newMessageRow(move.instanceId, { body: AWKWARD_JSON });
    const batch = { moves: [move], messages: [message], deliveries: [deliveryOf(message, consumerId)] };
    expect((await apply(store(), batch)).applied).toHaveLength(1);
    expect((await apply(store(), batch)).applied).toEqual([]);
    expect(await store().deliveryGet({ tenantId: TENANT, ackGuid: message.ackGuid })).toMatchObject({
      ...message,
      deliveries: [{ consumerId, stage: 'Pending', attempts: 0 }],
    });
  });

  it('writes nothing that was decided before the last change', async () => {
    await store().lifecycleImport(loanMachine());
    const generation = await store().lifecycleGeneration();
    await newConsumer(store(), 'kyc');
    const batch = { generation, moves: [newMove('L-1')], messages: [], deliveries: [], reactionsSettled: [] };
    expect(await store().lifecycleApply(batch)).toMatchObject({ current: false, applied: [] });
    expect(await instanceOf(store(), 'L-1')).toBeNull();
  });

  it('makes no instance of a machine that there is not', async () => {
    await store().lifecycleImport(loanMachine());
    const { applied } = await apply(store(), {
      moves: [newMove('L-1', { definition: 'car' }), newMove('L-2', { tenantId: 'other' })],
    });
    expect(applied).toEqual([]);
  });

  it('keeps instances of different environments and tenants apart', async () => {
    await store().lifecycleImport(loanMachine());
    await store().lifecycleImport(loanMachine({ env: 'test' }));
    await store().lifecycleImport(loanMachine({ tenantId: 'other' }));
    const moves = [newMove('L-1'), newMove('L-1', { env: 'test' }), newMove('L-1', { tenantId: 'other' })];
    expect((await apply(store(), { moves })).applied).toHaveLength(3);
    const keys = moves.map(({ tenantId, env, definition, externalRef }) => ({
      tenantId,
      env,
      definition,
      externalRef,
      requestId: null,
    }));
    const nobody = { ...keys[0]!, externalRef: 'L-9' };
    const loaded = await store().instanceLoad({ keys: [keys[2]!, nobody, keys[0]!, keys[1]!] });
    expect(loaded.map((row) => row?.instanceId)).toEqual([
      moves[2]!.instanceId,
      undefined,
      moves[0]!.instanceId,
      moves[1]!.instanceId,
    ]);
  });

  it('refuses data that cannot be stored, whole', async () => {
    await store().lifecycleImport(loanMachine());
    const moves = [newMove('L-1'), newMove('L-2', { payload: 'no json' })];
    await expect(apply(store(), { moves })).rejects.toMatchObject({ failure: 'data' });
    await expect(apply(store(), { moves: [newMove('L-\u0000')] })).rejects.toMatchObject({ failure: 'data' });
    expect(await instanceOf(store(), 'L-1')).toBeNull();
  });

  it('lists by state, in the order of references, by pages', async () => {
    await store().lifecycleImport(loanMachine());
    const moves = ['c', 'a', 'b'].map((ref) => newMove(ref));
    await apply(store(), { moves });
    await apply(store(), { moves: [nextMove(moves[0]!)] });
    const list = (state: string | null, after = '', limit = 10) =>
      store().instanceList({ tenantId: TENANT, env: 'prod', definition: 'loan', state, after, limit });
    const refs = async (...params: Parameters<typeof list>) =>
      (await list(...params)).map(({ externalRef }) => externalRef);
    expect(await refs(null)).toEqual(['a', 'b', 'c']);
    expect(await refs(null, 'a', 1)).toEqual(['b']);
    expect(await refs('submitted')).toEqual(['a', 'b']);
    expect(await refs('approved')).toEqual(['c']);
    expect(
      await store().instanceList({
        tenantId: 'other',
        env: 'prod',
        definition: 'loan',
        state: null,
        after: '',
        limit: 9,
      }),
    ).toEqual([]);
  });
}

function describeRaces(store: () => Store): void {
  it('applies one of many triggers to the same state', async () => {
    await store().lifecycleImport(loanMachine());
    const first = newMove('L-1');
    await apply(store(), { moves: [first] });
    const rivals = Array.from({ length: 20 }, (_, index) => nextMove(first, { requestId: `rival ${index}` }));
    const results = await Promise.all(rivals.map((move) => apply(store(), { moves: [move] })));
    expect(results.flatMap(({ applied }) => applied)).toEqual([first.instanceId]);
    expect(
      await store().timelineList({ tenantId: TENANT, instanceId: first.instanceId, after: null, limit: 100 }),
    ).toHaveLength(2);
  });

  it('makes one instance of many first triggers', async () => {
    await store().lifecycleImport(loanMachine());
    const rivals = Array.from({ length: 20 }, (_, index) => newMove('L-1', { requestId: `rival ${index}` }));
    const results = await Promise.all(rivals.map((move) => apply(store(), { moves: [move] })));
    const [winner, ...others] = results.flatMap(({ applied }) => applied);
    expect(others).toEqual([]);
    expect(await instanceOf(store(), 'L-1')).toMatchObject({ instanceId: winner, revision: 1 });
  });

  it('lets batches that create and move the same instances pass each other', async () => {
    await store().lifecycleImport(loanMachine());
    const refs = Array.from({ length: 30 }, (_, index) => `L-${index}`);
    const known = refs.map((ref) => newMove(`known ${ref}`));
    await apply(store(), { moves: known });
    const batch = (index: number): LifecycleMove[] => {
      const moves = [
        ...refs.map((ref) => newMove(ref, { requestId: `batch ${index}` })),
        ...known.map((move) => nextMove(move, { requestId: `batch ${index}` })),
      ];
      return index % 2 === 0 ? moves : moves.reverse();
    };
    const results = await Promise.all(Array.from({ length: 8 }, (_, index) => apply(store(), { moves: batch(index) })));
    expect(results.flatMap(({ applied }) => applied)).toHaveLength(60);
  });

  it('never writes for a consumer that was removed before', async () => {
    await store().lifecycleImport(loanMachine());
    const consumerId = await newConsumer(store(), 'kyc');
    const generation = await store().lifecycleGeneration();
    const writes = Array.from({ length: 10 }, (_, index) => {
      const move = newMove(`L-${index}`);
      const message = newMessageRow(move.instanceId);
      const deliveries = [deliveryOf(message, consumerId)];
      return store().lifecycleApply({
        generation,
        moves: [move],
        messages: [message],
        deliveries,
        reactionsSettled: [],
      });
    });
    const [removed] = await Promise.all([store().consumerRemove({ tenantId: TENANT, code: 'kyc' }), ...writes]);
    expect(removed).toBe(true);
    await store().consumerSweep();
    expect(
      await store().deliveryList({ tenantId: TENANT, consumerId: null, stage: null, after: null, limit: 100 }),
    ).toEqual([]);
  });
}

function describeStays(store: () => Store): void {
  it('uses up the request of an event that leads where the instance is, at its revision, once, and shows nobody', async () => {
    await store().lifecycleImport(loanMachine());
    const move = newMove('L-1');
    await apply(store(), { moves: [move] });
    const { instanceId } = move;
    const stay = (revision: number, requestId: string) =>
      store().instanceStay({ instanceId, revision, requestId, event: 'submit' });
    expect(await stay(2, 'again')).toBe(false);
    expect(await stay(1, move.requestId)).toBe(false);
    const answers = await Promise.all(Array.from({ length: 5 }, () => stay(1, 'again')));
    expect(answers.filter(Boolean)).toHaveLength(1);
    const seen = { event: 'submit', fromState: 'submitted', toState: 'submitted', revision: null };
    expect(await instanceOf(store(), 'L-1', 'again')).toMatchObject({ revision: 1, state: 'submitted', seen });
    expect((await apply(store(), { moves: [nextMove(move, { requestId: 'again' })] })).applied).toEqual([]);
    expect((await apply(store(), { moves: [nextMove(move)] })).applied).toEqual([instanceId]);
    const timeline = await store().timelineList({ tenantId: TENANT, instanceId, after: null, limit: 10 });
    expect(timeline.map(({ event }) => event)).toEqual(['submit', 'approve']);
  });
}

function describeTimeouts(store: () => Store): void {
  const due = async (overrides: Partial<LifecycleMove>) => {
    await store().lifecycleImport(loanMachine());
    const move = newMove('L-1', overrides);
    await apply(store(), { moves: [move] });
    return move;
  };
  const claim = (leaseMs = MINUTE_MS) => store().instanceClaimDue({ limit: 10, leaseMs });

  it('gives what is due, never early', async () => {
    const soon = (await store().now()) + 3_600_000;
    const move = await due({ dueAt: soon });
    expect(await claim()).toMatchObject({ due: [] });
    expect(await store().monitorLook({ consumerIds: [] })).toMatchObject({ nextTimeoutAt: soon });
    await apply(store(), { moves: [nextMove(move, { dueAt: 1_000 })] });
    expect((await claim()).due).toMatchObject([
      { instanceId: move.instanceId, externalRef: 'L-1', definition: 'loan', revision: 2 },
    ]);
  });

  it('gives it to one until its time is up, and then again', async () => {
    await due({ dueAt: 1_000 });
    const [one, other] = await Promise.all([claim(), claim()]);
    expect([...one.due, ...other.due]).toHaveLength(1);
    expect((await claim()).due).toEqual([]);
    expect((await store().monitorLook({ consumerIds: [] })).nextTimeoutAt).toBeGreaterThan(one.at);
  });

  it('gives it again when who took it did nothing', async () => {
    await due({ dueAt: 1_000 });
    expect((await claim(0)).due).toHaveLength(1);
    expect((await claim(0)).due).toHaveLength(1);
  });

  it('forgets it when the instance moves on', async () => {
    const move = await due({ dueAt: 1_000 });
    await apply(store(), { moves: [nextMove(move, { dueAt: null })] });
    expect((await claim()).due).toEqual([]);
    expect(await store().monitorLook({ consumerIds: [] })).toMatchObject({ nextTimeoutAt: null });
  });
}

function describeTimeline(store: () => Store): void {
  it('tells what happened, oldest first, by pages', async () => {
    await store().lifecycleImport(loanMachine());
    const first = newMove('L-1', { actor: 'ann', payload: AWKWARD_JSON });
    const { instanceId } = first;
    await apply(store(), { moves: [first] });
    const activity = {
      tenantId: TENANT,
      instanceId,
      activityId: newId(),
      activity: 'call',
      status: 'done',
      actor: 'bob',
      payload: '{"a":1}',
    };
    expect(await store().activityAdd(activity)).toBe(true);
    expect(await store().activityAdd(activity)).toBe(true);
    await apply(store(), { moves: [nextMove(first, { cause: '{"type":"timeout"}' })] });

    const page = (after: string | null, limit: number, tenantId = TENANT) =>
      store().timelineList({ tenantId, instanceId, after, limit });
    const [submitted, call] = await page(null, 2);
    expect(submitted).toMatchObject({
      kind: 'transition',
      at: 1_000,
      event: 'submit',
      fromState: 'draft',
      toState: 'submitted',
      actor: 'ann',
      payload: AWKWARD_JSON,
      requestId: 'r1',
      cause: '{"type":"trigger"}',
      activity: null,
    });
    expect(call).toMatchObject({
      kind: 'activity',
      activity: 'call',
      status: 'done',
      actor: 'bob',
      payload: '{"a":1}',
      event: null,
      cause: null,
    });
    const rest = await page(call!.cursor, 10);
    expect(rest).toMatchObject([{ event: 'approve', cause: '{"type":"timeout"}' }]);
    expect(await page(null, 10, 'other')).toEqual([]);
    expect(await store().activityAdd({ ...activity, activityId: newId(), tenantId: 'other' })).toBe(false);
    expect(await store().activityAdd({ ...activity, activityId: newId(), instanceId: newId() })).toBe(false);
  });
}
