// Runners: fence rows, leases, takeover (I4, I6, I23). See src/store/postgres/runner/runner.sql.

import { MANY_CRASHES, SUSPICIOUS_CRASHES } from '../../../src/store/port.ts';
import { liveRunner, makeReady, OWNED, PARKED, readClock, type Slot, type Statements, type Tables } from './tables.ts';

type RunnerStatements = Pick<
  Statements,
  | 'runnerRegister'
  | 'leaseRenew'
  | 'runnerListLive'
  | 'runnerDeclareDead'
  | 'runnerStop'
  | 'runnerList'
  | 'runnerReport'
  | 'runnerDrain'
>;

export function runnerStatements(tables: Tables): RunnerStatements {
  const slotsOf = (runnerId: string) => [...tables.slots.values()].filter((slot) => slot.runnerId === runnerId);
  const isLive = (runnerId: string) => slotsOf(runnerId).some(({ state }) => state === 'live');
  const owned = (runnerId: string) =>
    [...tables.queue.values()].filter((row) => row.state === OWNED && row.runnerId === runnerId);

  function retire(
    runnerId: string,
    state: Slot['state'],
    crashes: number,
    { suspectDelayMs = 0, lastChance = MANY_CRASHES }: { suspectDelayMs?: number; lastChance?: number } = {},
  ): { released: number } {
    for (const slot of slotsOf(runnerId)) if (slot.state === 'live') slot.state = state;
    const rows = owned(runnerId);
    for (const row of rows) {
      makeReady(tables, row);
      const most = rows.length === 1 ? MANY_CRASHES : Math.max(row.crashes, lastChance);
      row.crashes = Math.min(row.crashes + crashes, most);
      row.dueAt = null;
      if (suspectDelayMs === 0 || row.crashes < SUSPICIOUS_CRASHES) continue;
      row.state = PARKED;
      row.dueAt = tables.clock() + suspectDelayMs;
    }
    return { released: rows.length };
  }

  return {
    runnerRegister({ name, slots, leaseMs, host = null, version = null }) {
      const runnerId = String(tables.nextId++);
      const at = readClock(tables);
      tables.runners.set(runnerId, { name, registeredAt: at, host, version, places: null, isDraining: false });
      const slotIds = Array.from({ length: slots }, () => String(tables.nextId++));
      for (const id of slotIds) tables.slots.set(id, { id, runnerId, state: 'live' });
      tables.leases.set(runnerId, tables.clock() + leaseMs);
      return { runnerId, slotIds, at };
    },
    leaseRenew({ runnerId, leaseMs }) {
      const renewed = isLive(runnerId) && tables.leases.has(runnerId);
      if (renewed) tables.leases.set(runnerId, tables.clock() + leaseMs);
      return { renewed, at: readClock(tables) };
    },
    runnerListLive({ expiredForMs }) {
      const before = tables.clock() - expiredForMs;
      const live = [...tables.leases].filter(([id]) => isLive(id));
      return live.map(([runnerId, expiresAt]) => ({ runnerId, isExpired: expiresAt < before }));
    },
    runnerDeclareDead({ runnerId, expiredForMs, ...how }) {
      const expiresAt = tables.leases.get(runnerId) ?? 0;
      const declared = isLive(runnerId) && (expiredForMs === undefined || expiresAt < tables.clock() - expiredForMs);
      return { declared, released: declared ? retire(runnerId, 'dead', 1, how).released : 0 };
    },
    runnerStop: ({ runnerId }) => retire(runnerId, 'stopped', 0),
    runnerList: () =>
      [...tables.runners].map(([runnerId, runner]) => ({
        runnerId,
        ...runner,
        state: slotsOf(runnerId)[0]?.state ?? 'dead',
        leaseExpiresAt: Math.floor(tables.leases.get(runnerId) ?? runner.registeredAt),
        hasLease: (tables.leases.get(runnerId) ?? 0) > tables.clock(),
        owned: owned(runnerId).length,
      })),
    runnerReport({ runnerId, places }) {
      const runner = tables.runners.get(runnerId);
      if (runner !== undefined) tables.runners.set(runnerId, { ...runner, places });
      return { isDraining: runner?.isDraining ?? false };
    },
    runnerDrain({ runnerId }) {
      const runner = tables.runners.get(runnerId);
      if (runner === undefined || !isLive(runnerId)) return false;
      tables.runners.set(runnerId, { ...runner, isDraining: true });
      return true;
    },
  };
}

export function ownedBy(tables: Tables, slotId: string, executionId: string): boolean {
  const runnerId = liveRunner(tables, slotId);
  const row = tables.queue.get(executionId);
  return runnerId !== null && row?.state === OWNED && row.runnerId === runnerId;
}
