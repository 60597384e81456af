// Executions on another engine: never claimed natively, whichever statement writes their queue row; written only at the
// handed-over epoch (I4, I5); always due for somebody (I12).

import { expect, it } from 'vitest';
import type { ExternalTurn } from '../external-port.ts';
import type { NewExecution, Store } from '../port.ts';
import {
  claim,
  claimedIds,
  newAttempt,
  newEvent,
  newExecution,
  newId,
  newMessage,
  newOutcome,
  newParkItem,
  newRunner,
  start,
  statusOf,
  TENANT,
} from './builder.testing.ts';

const REF = '{"provider":"temporal","namespace":"n","workflowId":"w"}';

export function describeExternal(store: () => Store): void {
  const external = async (overrides: Partial<NewExecution> = {}): Promise<string> =>
    (await start(store(), { driver: 'temporal', ...overrides }))[0]!;
  const commit = (executionId: string, overrides: Partial<ExternalTurn> = {}) =>
    store().externalCommit(newTurn(executionId, overrides));
  const look = (executionId: string, epoch = 1, afterSeq = -1) =>
    store().externalLook({ executionId, epoch, afterSeq });
  const ended = async (): Promise<string> => {
    const id = await external();
    await commit(id, { outcomes: [newOutcome(id, { status: 'Failed' })], ended: [id] });
    return id;
  };
  /** No runner gets it, from any lane. */
  const expectNotClaimed = async () => {
    const { slot } = await newRunner(store());
    const lanes = await store().queueLanes({ limit: 100 });
    expect(lanes).toEqual([]);
    expect(await claimedIds(store(), slot)).toEqual([]);
  };
  const epochOf = async (executionId: string) => (await store().externalGet({ executionId }))?.epoch;

  it('is not claimed when it is started', async () => {
    const id = await external();
    await expectNotClaimed();
    expect(await statusOf(store(), id)).toBe('Pending');
    expect(await store().executionGet({ tenantId: TENANT, executionId: id })).toMatchObject({ driver: 'temporal' });
  });

  it('is not owned by the runner of the process that starts it', async () => {
    const { slot, runnerId } = await newRunner(store());
    const items = [newExecution(), newExecution({ driver: 'conductor' })];
    const { owned } = await store().executionStartOwned({ slotId: slot, items });
    expect(owned).toEqual([items[0]!.executionId]);
    expect(await store().executionListOwned({ runnerId })).toHaveLength(1);
    await store().runnerStop({ runnerId });
    expect((await claim(store(), (await newRunner(store())).slot)).claimed).toHaveLength(1);
  });

  it('is known by its request like any other', async () => {
    const id = await external({ requestId: 'r' });
    const again = newExecution({ driver: 'temporal', requestId: 'r' });
    const [outcome] = await store().executionStart({ items: [again] });
    expect(outcome).toMatchObject({ existing: { executionId: id } });
  });

  for (const kind of ['webhook', 'signal', 'cancel', 'child', 'attemptResult'] as const) {
    it(`is not claimed for mail of kind ${kind}`, async () => {
      const id = await external();
      await commit(id, { events: [newEvent(id, 0)] });
      const sent = await store().inboxSend({ message: newMessage(id, { kind }), tenantId: TENANT });
      expect(sent).toEqual({ live: true, fresh: true, owner: null, isExternal: true });
      await store().queueWakeMail({ limit: 100 });
      await store().parkCheck({ executionIds: [id] });
      await expectNotClaimed();
    });
  }

  it('is not claimed for callbacks that come together', async () => {
    const ids = [await external(), await external(), await external()];
    for (const id of ids) await commit(id, { events: [newEvent(id, 0)], waits: 1 });
    const send = (id: string) => store().inboxSend({ message: newMessage(id, { kind: 'webhook' }), tenantId: TENANT });
    const sent = await Promise.all(ids.map(send));
    for (const one of sent) expect(one).toEqual({ live: true, fresh: true, owner: null, isExternal: true });
    await expectNotClaimed();
  });

  it('is not claimed when something is due', async () => {
    const id = await external();
    await commit(id, { events: [newEvent(id, 0)], dueAt: 1, waits: 0 });
    expect(await store().queueWake({ limit: 100 })).toMatchObject({ woken: 0 });
    await expectNotClaimed();
  });

  it('is not touched by a runner that parks, releases, stops or dies', async () => {
    const id = await external();
    const { slot, runnerId } = await newRunner(store());
    expect(await store().executionPark({ slotId: slot, items: [newParkItem(id)] })).toMatchObject({ parked: [] });
    expect(await store().executionRelease({ slotId: slot, items: [{ executionId: id, epoch: null }] })).toEqual([]);
    await store().runnerDeclareDead({ runnerId });
    await expectNotClaimed();
  });

  it('is not buried, nor marked as undoing, by a runner', async () => {
    const id = await external();
    const { slot, commitSlot } = await newRunner(store());
    const outcome = newOutcome(id, { status: 'Failed', outputs: null });
    const letter = { outcome, reason: 'poison', payload: '{}', attempts: 1, lastError: 'broke' };
    for (const slotId of [slot, commitSlot]) {
      expect(await store().deadLetterAdd({ slotId, ...letter })).toEqual({ applied: false });
      expect(await store().executionUndoing({ slotId, executionId: id })).toEqual({ applied: false });
    }
    expect(await statusOf(store(), id)).toBe('Pending');
    await expectNotClaimed();
  });

  it('is not claimed when its run is given a new epoch', async () => {
    const id = await external();
    await commit(id, { events: [newEvent(id, 0)] });
    expect(await store().externalAgain({ executionId: id, epoch: 1 })).toEqual({ again: true });
    await expectNotClaimed();
    expect(await epochOf(id)).toBeGreaterThan(1);
  });

  it('is not claimed as a child of what another engine runs', async () => {
    const id = await external();
    const child = newExecution({ parentId: id, parentNode: 'n', depth: 1 });
    await commit(id, { events: [newEvent(id, 0)], children: [child], childHandOverMs: 0 });
    await expectNotClaimed();
    const due = await store().externalDue({ driver: 'temporal', limit: 10, holdMs: 60_000 });
    expect(due.map(({ executionId }) => executionId).toSorted()).toEqual([id, child.executionId].toSorted());
  });

  it('goes back to its engine when it is reopened, as another run', async () => {
    const id = await ended();
    const message = newMessage(id, { kind: 'signal', key: 'RETRY_STEP:s1' });
    expect(await store().executionReopen({ tenantId: TENANT, executionId: id, message })).toEqual({ reopened: true });
    await expectNotClaimed();
    expect(await epochOf(id)).toBeGreaterThan(1);
    expect(await store().externalDue({ driver: 'temporal', limit: 10, holdMs: 0 })).toMatchObject([{ ref: null }]);
  });

  it('goes back to its engine when a retry came just before its end', async () => {
    const id = await external();
    await store().inboxSend({ message: newMessage(id, { kind: 'signal', key: 'RETRY_STEP:s1' }), tenantId: TENANT });
    await commit(id, { outcomes: [newOutcome(id)], ended: [id] });
    await store().queueWakeMail({ limit: 100 });
    await expectNotClaimed();
    expect(await epochOf(id)).toBeGreaterThan(1);
  });

  it('is written by a turn of its epoch', async () => {
    const id = await external();
    const mail = newMessage(id);
    await store().inboxSend({ message: mail, tenantId: TENANT });
    expect(await look(id)).toMatchObject({ driver: 'temporal', journal: [], inbox: [{ id: mail.id }] });
    const turn = { events: [newEvent(id, 0)], attempts: [newAttempt(id)], consumed: [mail.id], isPaused: true };
    expect(await commit(id, turn)).toMatchObject({ applied: true });
    expect(await statusOf(store(), id)).toBe('Paused');
    expect(await look(id)).toMatchObject({ journal: [{ seq: 0 }], attempts: [{ nodeId: 'greet' }], inbox: [] });
    expect(await look(id, 1, 0)).toMatchObject({ journal: [], attempts: [] });
  });

  it('is not written twice: the second turn of the same place comes too late', async () => {
    const id = await external();
    await commit(id, { events: [newEvent(id, 0)] });
    await expect(commit(id, { events: [newEvent(id, 0)] })).rejects.toMatchObject({ failure: 'alreadyApplied' });
  });

  it('keeps the first result of an attempt', async () => {
    const id = await external();
    await commit(id, { events: [newEvent(id, 0)], attempts: [newAttempt(id)] });
    const again = { events: [newEvent(id, 1)], attempts: [newAttempt(id)] };
    await expect(commit(id, again)).rejects.toMatchObject({ failure: 'alreadyApplied' });
    expect((await look(id))!.journal).toHaveLength(1);
  });

  it('is not written by a turn of another epoch, nor after its end', async () => {
    const id = await external();
    expect(await commit(id, { epoch: 2, events: [newEvent(id, 0)] })).toMatchObject({ applied: false });
    expect(await look(id, 2)).toBeNull();
    await commit(id, { outcomes: [newOutcome(id)], ended: [id] });
    expect(await commit(id, { events: [newEvent(id, 1)] })).toMatchObject({ applied: false });
    expect(await look(id)).toBeNull();
    expect(await store().externalGet({ executionId: id })).toBeNull();
  });

  it('is not the queue row of a native execution', async () => {
    const [id] = await start(store(), {});
    expect(await commit(id!, { events: [newEvent(id!, 0)] })).toMatchObject({ applied: false });
    expect(await look(id!)).toBeNull();
    await claimedIds(store(), (await newRunner(store())).slot);
  });

  it('is due until somebody takes it, and again after that', async () => {
    const id = await external();
    const due = (holdMs: number) => store().externalDue({ driver: 'temporal', limit: 10, holdMs });
    expect(await due(60_000)).toMatchObject([{ executionId: id, epoch: 1, ref: null, failures: 0 }]);
    expect(await due(60_000)).toEqual([]);
    await store().externalNote({ executionId: id, epoch: 1, error: 'away', lookAfterMs: 0 });
    expect(await due(0)).toMatchObject([{ ref: null, failures: 1, lastError: 'away' }]);
    await store().externalNote({ executionId: id, epoch: 1, ref: REF, lookAfterMs: 0 });
    expect(await due(0)).toMatchObject([{ ref: REF, failures: 0, lastError: null }]);
    expect(await store().externalDue({ driver: 'conductor', limit: 10, holdMs: 0 })).toEqual([]);
    const view = await store().executionGet({ tenantId: TENANT, executionId: id });
    expect(view).toMatchObject({ engineRunRef: REF });
  });

  it('is not noted by one who comes with an earlier epoch', async () => {
    const id = await external();
    expect(await store().externalAgain({ executionId: id, epoch: 1 })).toEqual({ again: true });
    expect(await store().externalAgain({ executionId: id, epoch: 1 })).toEqual({ again: false });
    const note = { executionId: id, epoch: 1, ref: REF, lookAfterMs: 60_000 };
    expect(await store().externalNote(note)).toEqual({ noted: false });
    expect(await store().externalGet({ executionId: id })).toMatchObject({ ref: null });
  });

  it('is found by its old mail', async () => {
    const [id] = [await external(), await external()];
    await store().inboxSend({ message: newMessage(id), tenantId: TENANT });
    const mail = (olderThanMs: number) => store().externalMail({ driver: 'temporal', olderThanMs, limit: 10 });
    expect(await mail(60_000)).toEqual([]);
    expect(await mail(-60_000)).toMatchObject([{ executionId: id }]);
  });

  it('tells where it lives until it has ended', async () => {
    const id = await external({ environmentId: 'prod' });
    const places = () => store().externalPlaces({ driver: 'temporal' });
    expect(await places()).toEqual([{ tenantId: TENANT, projectId: 'default', environmentId: 'prod' }]);
    await commit(id, { outcomes: [newOutcome(id)], ended: [id] });
    expect(await places()).toEqual([]);
  });

  it('is given up on at its epoch, with a dead letter and news for its parent', async () => {
    const parent = await external();
    const id = await external({ parentId: parent, parentNode: 'n', depth: 1 });
    const letter = {
      outcome: newOutcome(id, { status: 'Failed' }),
      reason: 'POISON',
      payload: '{}',
      lastError: 'boom',
      event: newEvent(id, 0),
      sent: [newMessage(parent, { kind: 'child', key: id })],
      keepLetter: true,
    };
    expect(await store().externalGiveUp({ epoch: 7, ...letter })).toEqual({ applied: false });
    expect(await store().externalGiveUp({ epoch: 1, ...letter })).toEqual({ applied: true });
    expect(await statusOf(store(), id)).toBe('Failed');
    const letters = await store().deadLetterList({ tenantId: TENANT, afterId: '0', limit: 10 });
    expect(letters).toMatchObject([{ executionId: id, reason: 'POISON', lastError: 'boom' }]);
    expect(await store().inboxRead({ executionIds: [parent] })).toMatchObject([{ kind: 'child' }]);
  });

  it('is busy while something of it runs, and not while it sleeps or waits', async () => {
    const [runs, sleeps, waits] = [await external(), await external(), await external()];
    await commit(sleeps, { dueAt: Date.UTC(2100, 0) });
    await commit(waits, { waits: 1 });
    const isBusy = async (executionId: string) => (await store().externalGet({ executionId }))?.isBusy;
    expect([await isBusy(runs), await isBusy(sleeps), await isBusy(waits)]).toEqual([true, false, false]);
  });

  it('notes a letter once while it goes on, and none at another epoch', async () => {
    const id = await external();
    const about = { tenantId: TENANT, executionId: id, reason: 'COMPENSATION_FAILED', payload: '{}', attempts: 2 };
    expect(await store().externalLetter({ ...about, epoch: 7, lastError: 'late' })).toEqual({ applied: false });
    expect(await store().externalLetter({ ...about, epoch: 1, lastError: 'it broke' })).toEqual({ applied: true });
    expect(await store().externalLetter({ ...about, epoch: 1, lastError: 'again' })).toEqual({ applied: true });
    const letters = await store().deadLetterList({ tenantId: TENANT, afterId: '0', limit: 10 });
    expect(letters).toMatchObject([{ executionId: id, reason: 'COMPENSATION_FAILED', lastError: 'it broke' }]);
    expect(await statusOf(store(), id)).toBe('Pending');
  });

  it('runs on the engine that its definition asks for', async () => {
    const publish = (workflowId: string, definition: object) =>
      store().workflowPublish({
        tenantId: TENANT,
        workflowId,
        displayName: workflowId,
        description: null,
        format: 'graph',
        definition: JSON.stringify(definition),
        checksum: newId(),
      });
    await publish('there', { driver: 'temporal' });
    await publish('anywhere', {});
    const driver = (workflowId: string) => store().definitionDriver({ tenantId: TENANT, workflowId, version: 1 });
    expect([await driver('there'), await driver('anywhere'), await driver('nowhere')]).toEqual([
      'temporal',
      null,
      null,
    ]);
  });
}

function newTurn(executionId: string, overrides: Partial<ExternalTurn> = {}): ExternalTurn {
  return {
    executionId,
    epoch: 1,
    events: [],
    attempts: [],
    outcomes: [],
    ended: [],
    children: [],
    consumed: [],
    sent: [],
    links: [],
    logs: [],
    dueAt: null,
    waits: 0,
    isPaused: false,
    childHandOverMs: 60_000,
    ...overrides,
  };
}
