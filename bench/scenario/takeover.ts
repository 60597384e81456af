// How long executions stand still when their runner is killed: from kill -9 to the next step of each execution in another runner.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { BenchDatabase } from '../database.ts';
import { holdAction } from '../held-runner.ts';
import { median, percentile } from '../measurement.ts';
import { openPawl } from '../native-run.ts';
import type { Bench, Scenario } from '../scenario.ts';
import { chainWorkflow, enqueue, publish } from '../workload.ts';

const ROUNDS = 5;
const EXECUTIONS = 100;
const LEASE_MS = 10_000;
const HELD_RUNNER = fileURLToPath(new URL('../held-runner.ts', import.meta.url));

export const takeover: Scenario = {
  name: 'takeover',
  about: `seconds from kill -9 of a runner to the next step of its executions (${LEASE_MS / 1000} s lease)`,
  async run(bench: Bench) {
    const { database, report } = bench;
    await database.clear();
    const door = await openPawl(database, { runner: false, actions: [holdAction(() => {})] });
    try {
      const workload = await publish(door, chainWorkflow('held', 1, 'core.bench-hold'));
      const waits: number[] = [];
      for (let round = 0; round < bench.scaled(ROUNDS); round++) {
        report.progress(`takeover: round ${round + 1}`);
        await database.clear();
        waits.push(...(await killOne(bench, () => enqueue(door, workload, EXECUTIONS))));
      }
      report.row('takeover', 'pawl', 's p50', median(waits));
      report.row('takeover-p99', 'pawl', 's p99', percentile(waits, 0.99));
      report.ratio('takeover/p99-s', percentile(waits, 0.99), { atMost: 3 });
    } finally {
      await door.close();
    }
  },
};

/** Seconds from the kill to the next step of each execution. */
async function killOne({ database }: Bench, fill: () => Promise<void>): Promise<number[]> {
  const victim = await startVictim(database);
  await fill();
  await allStarted(database);
  const ranAt: number[] = [];
  const done = Promise.withResolvers<void>();
  const survivor = await openPawl(database, {
    engine: { leaseMs: LEASE_MS },
    actions: [
      holdAction(() => {
        if (ranAt.push(performance.now()) === EXECUTIONS) done.resolve();
      }),
    ],
  });
  try {
    // A runner that has just begun does not judge others yet. The victim dies at a random point of its lease.
    await delay(LEASE_MS / 2 + Math.random() * LEASE_MS);
    const exited = once(victim, 'exit');
    victim.kill('SIGKILL');
    const killedAt = performance.now();
    await exited;
    await done.promise;
    return ranAt.map((at) => (at - killedAt) / 1000);
  } finally {
    await survivor.close();
  }
}

async function startVictim(database: BenchDatabase): Promise<ChildProcess> {
  const victim = fork(HELD_RUNNER, [database.url], { execArgv: ['--no-warnings'] });
  const [message] = (await Promise.race([once(victim, 'message'), once(victim, 'exit')])) as [unknown];
  if (message !== 'ready') throw new Error(`the runner process could not start: ${message}`);
  return victim;
}

/** Each execution has written its first journal row, so its only action is running, or about to run. */
async function allStarted(database: BenchDatabase): Promise<void> {
  for (;;) {
    const [row] = await database.query<{ started: number }>('select count(*)::int as started from execution_events');
    if (row!.started >= EXECUTIONS) return;
    await delay(20);
  }
}
