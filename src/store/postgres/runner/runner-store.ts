// Runners: registration, leases, takeover (I4, I6, I23).

import { MANY_CRASHES, SUSPICIOUS_CRASHES, type Timestamp } from '../../port.ts';
import type { RunnerInfo, RunnerRegistration, RunnerStore } from '../../runner-port.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const REGISTER = statement('runner_register');
const RENEW = statement('lease_renew');
const LIST_LIVE = statement('runner_list_live');
const FENCE = statement('runner_fence');
const RELEASE = statement('runner_release');
const LIST = statement('runner_list');
const REPORT = statement('runner_report');
const DRAIN = statement('runner_drain');

export function runnerStore(engine: Database, reader: Database): RunnerStore {
  /** One transaction: if a fenced runner still owned rows, no other runner would ever take them. */
  function retire(
    runnerId: string,
    state: 'stopped' | 'dead',
    { crashes, suspectDelayMs = 0, expiredForMs, lastChance = MANY_CRASHES }: Retirement,
  ) {
    return engine.transaction(async (session) => {
      const fenced = await session.run(FENCE, [runnerId, state, expiredForMs ?? null]);
      if (fenced.length === 0 && expiredForMs !== undefined) return { declared: false, released: 0 };
      const released = await session.run(RELEASE, [runnerId, crashes, suspectDelayMs, SUSPICIOUS_CRASHES, lastChance]);
      return { declared: fenced.length > 0, released: released.length };
    });
  }

  return {
    async runnerRegister({ name, slots, leaseMs, behaviour = 1, host = null, version = null }) {
      const values = [name, slots, leaseMs, behaviour, host, version];
      const [row] = await engine.run<{ runnerId: string; slotIds: string[]; at: Timestamp }>(REGISTER, values);
      const { runnerId, slotIds, at } = row!;
      return { runnerId, slotIds, at } satisfies RunnerRegistration;
    },
    async leaseRenew({ runnerId, leaseMs, isGuard = false }) {
      const [row] = await engine.run<{ renewed: boolean; at: Timestamp }>(RENEW, [runnerId, leaseMs, isGuard]);
      return row!;
    },
    async runnerListLive({ expiredForMs, judge }) {
      const { runnerId = null, sessionGraceMs = 0, settledMs = 0 } = judge ?? {};
      const values = [expiredForMs, runnerId, sessionGraceMs, settledMs];
      const rows = await engine.run<{ runnerId: string; expired: boolean }>(LIST_LIVE, values);
      return rows.map((row) => ({ runnerId: row.runnerId, isExpired: row.expired }));
    },
    runnerDeclareDead: ({ runnerId, ...how }) => retire(runnerId, 'dead', { crashes: 1, ...how }),
    runnerStop: ({ runnerId }) => retire(runnerId, 'stopped', { crashes: 0 }),
    async runnerList() {
      const rows = await reader.run<RunnerRow>(LIST, []);
      return rows.map((row) => ({
        runnerId: row.runnerId,
        name: row.name,
        state: row.state,
        leaseExpiresAt: row.leaseExpiresAt,
        hasLease: row.hasLease,
        owned: row.owned,
        registeredAt: row.registeredAt,
        host: row.host,
        version: row.version,
        places: row.places === null ? null : { total: row.places, busy: row.busy ?? 0 },
        isDraining: row.isDraining,
      }));
    },
    async runnerReport({ runnerId, places }) {
      const [row] = await engine.run<{ draining: boolean }>(REPORT, [runnerId, places.total, places.busy]);
      return { isDraining: row?.draining ?? false };
    },
    runnerDrain: async ({ runnerId }) => (await reader.run(DRAIN, [runnerId])).length > 0,
  };
}

interface Retirement {
  readonly crashes: number;
  readonly suspectDelayMs?: number;
  readonly expiredForMs?: number;
  readonly lastChance?: number;
}

interface RunnerRow {
  runnerId: string;
  name: string;
  state: RunnerInfo['state'];
  leaseExpiresAt: Timestamp;
  hasLease: boolean;
  owned: number;
  registeredAt: Timestamp;
  host: string | null;
  version: string | null;
  places: number | null;
  busy: number | null;
  isDraining: boolean;
}
