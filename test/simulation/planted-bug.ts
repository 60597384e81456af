// Bugs put in on purpose. A simulation that does not find them proves nothing; planted-bug.test.ts makes sure that it does. Each
// bug replaces a part of the database, of the way to it, or of the engine's classes, for one run only.

import type { RunAttempt } from '../../src/action/attempt.ts';
import type { EngineOptions } from '../../src/engine/environment.ts';
import { Claimer } from '../../src/engine/runner/claimer.ts';
import { Incarnation } from '../../src/engine/runner/incarnation.ts';
import { LostClaims } from '../../src/engine/runner/lost-claims.ts';
import { type CommitItem, Committer } from '../../src/engine/turn/committer.ts';
import type { Turn } from '../../src/engine/turn/decide-turn.ts';
import { HeldStarts } from '../../src/engine/turn/held-start.ts';
import type { Resident } from '../../src/engine/turn/resident.ts';
import { Turns } from '../../src/engine/turn/turn.ts';
import { MANY_CRASHES, type NewMessage, type Store } from '../../src/store/port.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { makeReady, OWNED, type Tables } from './database/tables.ts';
import { PLANTED_LANGUAGE_BUGS } from './planted-language-bug.ts';
import { replace } from './replace.ts';
import type { Plant } from './simulation.ts';

/** Some bugs keep state of their own, so each run gets a new one. */
export const PLANTED_BUGS: Readonly<Record<string, () => Plant>> = {
  ...PLANTED_LANGUAGE_BUGS,
  'a commit is not fenced': () => ({
    statements: (statements, tables) => ({
      executionCommit: (batch) => withLiveSlot(tables, batch.slotId, () => statements.executionCommit(batch)),
    }),
  }),
  'a claim is not fenced': () => ({
    statements: (statements, tables) => ({
      executionClaim: (params) => withLiveSlot(tables, params.slotId, () => statements.executionClaim(params)),
    }),
  }),
  'what a runner starts as its own is not fenced': () => ({
    statements: (statements, tables) => ({
      executionStartOwned: (params) =>
        withLiveSlot(tables, params.slotId, () => statements.executionStartOwned(params)),
    }),
    // Also when the lease has ended: before that, the lease keeps a runner from adopting.
    patch: () => replace(Claimer.prototype as unknown as WithAdoption, 'mayAdopt', () => () => true),
  }),
  'what a runner starts as its own is acknowledged before it is durable': () => ({
    store: () => ({
      executionStartOwned: async ({ items }) => ({
        outcomes: items.map(({ executionId }) => ({ executionId, existing: null })),
        owned: [],
        at: 0,
      }),
    }),
  }),
  'executions are taken over before their runner is declared dead': () => ({
    statements: (_, tables) => ({
      runnerDeclareDead({ runnerId }) {
        const rows = [...tables.queue.values()].filter((row) => row.state === OWNED && row.runnerId === runnerId);
        for (const row of rows) makeReady(tables, row);
        return { declared: rows.length > 0, released: rows.length };
      },
    }),
  }),
  'a runner is declared dead without another look at its lease': () => ({
    statements: (statements) => ({
      runnerListLive: () => statements.runnerListLive({ expiredForMs: -1_500 }),
      runnerDeclareDead: ({ runnerId }) => statements.runnerDeclareDead({ runnerId }),
    }),
  }),
  'actions are dispatched before the commit': () => ({
    patch: () =>
      replace(
        Committer.prototype,
        'submit',
        (original) =>
          function submit(this: Committer, item: CommitItem) {
            item.committed(0);
            original.call(this, { ...item, committed: () => {} });
          },
      ),
  }),
  'a claim is answered before it is durable': () => ({
    statements: (statements, tables) => ({
      executionClaim(params) {
        const result = statements.executionClaim(params);
        const [lost] = result.claimed;
        if (result.claimed.length > 1) makeReady(tables, tables.queue.get(lost!.executionId)!);
        return result;
      },
    }),
  }),
  'every start is held, not only the first': () => ({
    patch: () =>
      replace(Turns.prototype as unknown as WithCommit, 'commit', (original) => {
        return function commit(this: WithCommit, resident: Resident, turn: Turn, ...more: unknown[]) {
          const isStart = turn.commands.length > 0 && turn.commands.every(({ type }) => type === 'runAction');
          if (isStart) this.hold(resident, turn);
          else original.call(this, resident, turn, ...more);
        };
      }),
  }),
  'a start that was held is never written': () => ({
    patch: () => replace(HeldStarts.prototype, 'hold', () => () => {}),
  }),
  'an unknown commit counts as applied': () => ({
    store: (store) => ({
      executionCommit: (batch) =>
        store.executionCommit(batch).catch(unless('unknown', () => ({ applied: true, at: 0 }))),
    }),
  }),
  'an unknown commit counts as failed': () => ({
    store: (store) => ({
      executionCommit: (batch) => store.executionCommit(batch).catch(unless('unknown', () => failAs('fatal'))),
    }),
  }),
  'a commit that was applied before counts as failed': () => ({
    store: (store) => ({
      executionCommit: (batch) => store.executionCommit(batch).catch(unless('alreadyApplied', () => failAs('data'))),
    }),
  }),
  'a lost claim is not looked for': () => ({
    patch: () => replace(LostClaims.prototype, 'reconcile', () => async () => {}),
  }),
  'nobody looks for mail after a park': () => ({
    store: () => ({ parkCheck: async () => [], queueWakeMail: async () => 0 }),
  }),
  'a signal is taken twice': () => ({
    statements: (statements, tables) => ({
      inboxSend(params) {
        tables.signals.clear();
        return statements.inboxSend(params);
      },
    }),
  }),
  'two transitions of one execution are on their way at once': () => ({
    patch: () =>
      replace(Turns.prototype as unknown as WithAdvance, 'advance', (original) => {
        return function advance(this: WithAdvance, resident: Resident) {
          resident.release();
          original.call(this, resident);
        };
      }),
  }),
  'a callback that comes early is dropped': () => ({
    statements: (statements, tables) => ({
      inboxSend(params) {
        const isEarly = tables.queue.get(params.message.executionId)?.epoch === 0;
        if (params.message.kind === 'webhook' && isEarly)
          return { live: true, fresh: true, owner: null, isExternal: false };
        return statements.inboxSend(params);
      },
    }),
  }),
  'the clock of a runner is ahead': () => ({
    store: (store) => ({
      leaseRenew: async (params) => ahead(await store.leaseRenew(params)),
      executionCommit: async (params) => ahead(await store.executionCommit(params)),
      executionClaim: async (params) => ahead(await store.executionClaim(params)),
      runnerRegister: async (params) => ahead(await store.runnerRegister(params)),
    }),
  }),
  'the count of crashes is never taken back': () => ({
    store: (store) => ({ executionCommit: (batch) => store.executionCommit({ ...batch, crashResets: [] }) }),
  }),
  'a crash is charged to everybody who was there': () => ({
    firstSeed: 390,
    statements: (statements) => ({
      runnerDeclareDead: ({ runnerId, expiredForMs }) =>
        statements.runnerDeclareDead({ runnerId, ...(expiredForMs === undefined ? {} : { expiredForMs }) }),
      executionClaim: (params) =>
        statements.executionClaim({ ...params, suspects: { atMost: 10, lastChance: MANY_CRASHES } }),
    }),
  }),
  'an execution is parked without the time it is due': () => ({
    store: (store) => ({
      executionPark: ({ slotId, items }) =>
        store.executionPark({ slotId, items: items.map((item) => ({ ...item, dueAt: null, waits: 1 })) }),
    }),
  }),
  'the result of an earlier epoch is applied': () => ({ run: reuseResults() }),
  'an execution that ended stays in the queue': () => ({
    store: (store) => ({ executionCommit: (batch) => store.executionCommit({ ...batch, ended: [] }) }),
  }),
  'the end of a child is not told to its parent': () => ({
    store: (store) => ({
      executionCommit: (batch) => store.executionCommit({ ...batch, sent: withoutNews(batch.sent) }),
    }),
  }),
  'actions are dispatched after the lease': () => ({
    options: { leaseMarginMs: -20_000 } satisfies Partial<EngineOptions>,
  }),
  'a stop gives back what is still running': () => ({
    patch: () =>
      replace(Incarnation.prototype as unknown as WithDrain, 'drain', () => {
        return async function drain(this: WithDrain) {
          this.abandon();
          await this.deps.store.runnerStop({ runnerId: this.registration.runnerId });
        };
      }),
  }),
  'a start is acknowledged before it is durable': () => ({
    statements: (statements) => ({
      executionStart({ items }) {
        const isLost = items.length > 1;
        return isLost
          ? items.map(({ executionId }) => ({ executionId, existing: null }))
          : statements.executionStart({ items });
      },
    }),
  }),
};

function withLiveSlot<T>(tables: Tables, slotId: string, run: () => T): T {
  const slot = tables.slots.get(slotId)!;
  const { state } = slot;
  slot.state = 'live';
  try {
    return run();
  } finally {
    slot.state = state;
  }
}

/** For `catch`: handles one kind of failure and rethrows the others. */
function unless<T>(failure: StoreError['failure'], instead: () => T): (error: unknown) => T {
  return (error) => {
    if (error instanceof StoreError && error.failure === failure) return instead();
    throw error;
  };
}

function failAs(failure: StoreError['failure']): never {
  throw new StoreError(failure, 'planted');
}

function ahead<T extends { at: number }>(reply: T): T {
  return { ...reply, at: reply.at + 700 };
}

function withoutNews(sent: readonly NewMessage[]): NewMessage[] {
  return sent.filter(({ kind }) => kind !== 'child');
}

/** The result of an attempt that a former owner ran is reused for the new owner. */
function reuseResults(): (run: RunAttempt) => RunAttempt {
  const known = new Map<string, ReturnType<RunAttempt>>();
  return (run) => (request) => {
    const key = `${request.idempotencyKey} ${request.attempt}`;
    const result = known.get(key) ?? run(request);
    known.set(key, result);
    return result;
  };
}

/** Private methods of the class. */
interface WithAdvance {
  advance(resident: Resident): void;
}

interface WithCommit {
  commit(resident: Resident, turn: Turn, ...more: unknown[]): void;
  hold(resident: Resident, turn: Turn): void;
}

interface WithAdoption {
  mayAdopt(): boolean;
}

interface WithDrain extends Pick<Incarnation, 'abandon' | 'drain' | 'registration'> {
  readonly deps: { readonly store: Store };
}
