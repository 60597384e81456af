// The store alone: how fast it starts, claims, loads and commits when nothing decides and nothing acts. Batches of 128
// transitions on three slots at once; each transition is one journal row and one finished attempt, and every tenth ends its
// execution.

import type { CommitBatch, Store } from '../../src/store/port.ts';
import { median } from '../measurement.ts';
import { openPawl } from '../native-run.ts';
import type { Bench, Scenario } from '../scenario.ts';
import { chainWorkflow, enqueue, publish, TENANT } from '../workload.ts';

const EXECUTIONS = 12_800;
const STEPS = 10;
const BATCH = 128;
const COMMIT_SLOTS = 3;
const ROUNDS = 3;

type Rates = Record<'start' | 'claim' | 'load' | 'commit', number>;

export const store: Scenario = {
  name: 'store',
  about: 'start, claim, load and commit of the store alone',
  async run(bench: Bench) {
    const rounds: Rates[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await measure(bench));
    for (const name of ['start', 'claim', 'load'] as const) {
      bench.report.row(`store-${name}`, 'pawl', 'executions/s', median(rounds.map((rates) => rates[name])));
    }
    bench.report.row('store-commit', 'pawl', 'transitions/s', median(rounds.map((rates) => rates.commit)));
  },
};

async function measure({ database, scaled }: Bench): Promise<Rates> {
  await database.clear();
  const pawl = await openPawl(database, { runner: false });
  try {
    const count = scaled(EXECUTIONS);
    const workload = await publish(pawl, chainWorkflow('ten-step', STEPS));
    const registration = { name: 'bench', slots: COMMIT_SLOTS + 1, leaseMs: 600_000 };
    const { slotIds } = await pawl.store.runnerRegister(registration);
    const [claimSlot, ...commitSlots] = slotIds;
    const start = await timed(count, () => enqueue(pawl, workload, count));
    let ids: string[] = [];
    const claim = await timed(count, async () => {
      ids = await claimAll(pawl.store, claimSlot!);
    });
    const load = await timed(count, async () => {
      for (const executionIds of chunks(ids)) await pawl.store.executionLoad({ executionIds, deciderVersion: 1 });
    });
    const commit = await timed(count * STEPS, () => commitAll(pawl.store, commitSlots, ids));
    return { start, claim, load, commit };
  } finally {
    await pawl.close();
  }
}

async function claimAll(store: Store, slotId: string): Promise<string[]> {
  const ids: string[] = [];
  const lanes = [{ tenantId: TENANT, priority: 5, mark: 0 }];
  for (;;) {
    const { claimed } = await store.executionClaim({ slotId, lanes, perLane: BATCH, limit: BATCH, behaviour: 1 });
    if (claimed.length === 0) return ids;
    ids.push(...claimed.map(({ executionId }) => executionId));
  }
}

async function commitAll(store: Store, slotIds: readonly string[], ids: readonly string[]): Promise<void> {
  const batches = Array.from({ length: STEPS }, (_, step) => chunks(ids).map((part) => ({ part, step }))).flat();
  await Promise.all(
    slotIds.map(async (slotId) => {
      for (let next = batches.shift(); next !== undefined; next = batches.shift()) {
        await store.executionCommit(transitions(slotId, next.part, next.step));
      }
    }),
  );
}

function transitions(slotId: string, ids: readonly string[], step: number): CommitBatch {
  const at = Date.now();
  const last = step === STEPS - 1;
  return {
    slotId,
    events: ids.map((executionId) => ({
      executionId,
      seq: step * 3,
      at,
      facts: `[{"type":"NodeSucceeded","node":${step},"attempt":1,"bytes":7},{"type":"EdgesResolved","satisfied":[${step}],"unsatisfied":[]},{"type":"NodeStarted","node":${step + 1},"attempt":1}]`,
      inputs: `{"n${step + 1}":{"x":1}}`,
    })),
    attempts: ids.map((executionId) => ({
      executionId,
      nodeId: `n${step}`,
      attempt: 1,
      actionType: 'core.echo',
      status: 'Succeeded',
      startedSeq: step * 3,
      outputs: '{"x":1}',
      error: null,
      startedAt: at,
      endedAt: at,
      waitedMs: null,
    })),
    outcomes: (last ? ids : []).map((executionId) => ({
      executionId,
      tenantId: TENANT,
      status: 'Succeeded',
      outputs: '{"x":1}',
      error: null,
      contextSnapshot: null,
      startedAt: at,
      endedAt: at,
    })),
    ended: last ? [...ids] : [],
    children: [],
    consumed: [],
    sent: [],
    links: [],
    logs: [],
  };
}

function chunks(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, i) => ids.slice(i * BATCH, (i + 1) * BATCH));
}

/** Returns the rate per second. */
async function timed(count: number, work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return count / ((performance.now() - started) / 1000);
}
