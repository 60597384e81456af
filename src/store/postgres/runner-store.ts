// Runners: registration, leases, takeover (I4, I6, I23).

import {
  type RunnerInfo,
  type RunnerRegistration,
  type RunnerStore,
  SUSPICIOUS_CRASHES,
  type Timestamp,
} from '../port.ts';
import type { Database } from './database.ts';
import { statement } from './statement.ts';

const REGISTER = statement('runner_register');
const RENEW = statement('lease_renew');
const LIST_EXPIRED = statement('runner_list_expired');
const FENCE = statement('runner_fence');
const RELEASE = statement('runner_release');
const LIST = statement('runner_list');

export function runnerStore(engine: Database, reader: Database): RunnerStore {
  /** One transaction: a runner that is fenced but still owns rows would leave them to nobody. */
  function retire(runnerId: string, state: 'stopped' | 'dead', { crashes, suspectDelayMs, expiredForMs }: Retirement) {
    return engine.transaction(async (session) => {
      const fenced = await session.run(FENCE, [runnerId, state, expiredForMs ?? null]);
      if (fenced.length === 0 && expiredForMs !== undefined) return { declared: false, released: 0 };
      const released = await session.run(RELEASE, [runnerId, crashes, suspectDelayMs ?? 0, SUSPICIOUS_CRASHES]);
      return { declared: fenced.length > 0, released: released.length };
    });
  }

  return {
    async runnerRegister({ name, slots, leaseMs }) {
      const [row] = await engine.run<{ runner_id: string; slot_ids: string[]; at: Timestamp }>(REGISTER, [
        name,
        slots,
        leaseMs,
      ]);
      const { runner_id, slot_ids, at } = row!;
      return { runnerId: runner_id, slotIds: slot_ids, at } satisfies RunnerRegistration;
    },
    async leaseRenew({ runnerId, leaseMs }) {
      const [row] = await engine.run<{ renewed: boolean; at: Timestamp }>(RENEW, [runnerId, leaseMs]);
      return row!;
    },
    async runnerListExpired({ graceMs }) {
      const rows = await engine.run<{ runner_id: string }>(LIST_EXPIRED, [graceMs]);
      return rows.map((row) => row.runner_id);
    },
    runnerDeclareDead: ({ runnerId, ...how }) => retire(runnerId, 'dead', { crashes: 1, ...how }),
    runnerStop: ({ runnerId }) => retire(runnerId, 'stopped', { crashes: 0 }),
    async runnerList() {
      const rows = await reader.run<RunnerRow>(LIST, []);
      return rows.map((row) => ({
        runnerId: row.runner_id,
        name: row.name,
        state: row.state,
        leaseExpiresAt: row.lease_expires_at,
        owned: row.owned,
      }));
    },
  };
}

interface Retirement {
  readonly crashes: number;
  readonly suspectDelayMs?: number;
  readonly expiredForMs?: number;
}

interface RunnerRow {
  runner_id: string;
  name: string;
  state: RunnerInfo['state'];
  lease_expires_at: Timestamp;
  owned: number;
}
