// The extra cost of execution plans over graphs: an attempt with a worker in another process, a resume after a long journal, an
// artifact that streams through, a tenant that floods starts, and a worker without work.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Json } from '../../src/core/json/json.ts';
import { createPawl, createWorker, defineAction, type Pawl } from '../../src/main.ts';
import { median, percentile } from '../measurement.ts';
import { openPawl } from '../native-run.ts';
import { countQueries } from '../query-counter.ts';
import type { Bench, Scenario } from '../scenario.ts';
import { chainWorkflow, publish } from '../workload.ts';

const QUEUE = 'bench';
const STEPS = 10;
const WORKER = fileURLToPath(new URL('../remote-worker.ts', import.meta.url));

const planOf = (planId: string, dispatch: object) => ({
  metadata: { planId, planVersion: '1', createdAt: '2026-01-01T00:00:00Z', createdBy: 'bench', schemaVersion: 'v1' },
  scope: { tenantId: 'default', projectId: 'bench', environmentId: 'bench', repoSha: 'none' },
  steps: Array.from({ length: STEPS }, (_, index) => ({
    ...{ stepId: `s${index}`, type: 'core.echo', inputs: { x: index }, timeout: '60s', ...dispatch },
    ...(index === 0 ? {} : { dependsOn: [`s${index - 1}`] }),
  })),
});

/** The milliseconds of `alone` runs, one after the other; and the steps/s of `together` runs at once. */
async function timed(pawl: Pawl, planId: string, { alone, together }: { alone: number; together: number }) {
  const once = async () => {
    const startedAt = performance.now();
    const { executionId } = await pawl.start(planId, { environmentId: 'bench' });
    const { status } = await pawl.result(executionId);
    if (status !== 'Succeeded') throw new Error(`${planId} is ${status}`);
    return performance.now() - startedAt;
  };
  await once();
  const times: number[] = [];
  for (let run = 0; run < alone; run++) times.push(await once());
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: together }, once));
  return { times, perSecond: (together * STEPS) / ((performance.now() - startedAt) / 1000) };
}

const remoteAttempt: Scenario = {
  name: 'remote-attempt',
  about: 'ten steps in a row by a worker in another process, against the runner itself',
  async run({ database, report, scaled }: Bench) {
    await database.clear();
    const worker: ChildProcess = fork(WORKER, [QUEUE], { env: { ...process.env, DATABASE_URL: database.url } });
    const pawl = await openPawl(database);
    try {
      await once(worker, 'message');
      await pawl.publish(planOf('bench-local', {}));
      await pawl.publish(planOf('bench-remote', { dispatch: { taskQueue: QUEUE } }));
      const size = { alone: scaled(50), together: scaled(500) };
      const local = await timed(pawl, 'bench-local', size);
      const remote = await timed(pawl, 'bench-remote', size);
      const extraMs = (median(remote.times) - median(local.times)) / STEPS;
      report.row('remote-attempt', 'pawl: local', 'steps/s', local.perSecond);
      report.row('remote-attempt', 'pawl: remote', 'steps/s', remote.perSecond);
      report.row('remote-attempt-latency', 'pawl', 'ms p50 extra per step', extraMs);
      report.ratio('remote-attempt/local-to-remote', local.perSecond / remote.perSecond, { atMost: 2 });
      report.ratio('remote-attempt/extra-ms', extraMs, { atMost: 15 });
    } finally {
      await pawl.close();
      worker.kill();
    }
  },
};

const resume: Scenario = {
  name: 'resume',
  about: 'taking an execution up again after a journal of 10,000 facts, against one of ten',
  async run({ database, report, scaled }: Bench) {
    await database.clear();
    const cost = async (facts: number) => {
      const first = await openPawl(database);
      // Each item leaves about three facts. The sleep after them makes the next runner load the execution from its journal.
      const id = `resume-${facts}`;
      await publish(first, longWorkflow(id));
      const items = Array.from({ length: Math.max(1, Math.round(facts / 3)) }, (_, index) => index);
      const { executionId } = await first.start(id, { trigger: { items } });
      for (;;) {
        const [row] = await database.query<{ facts: number }>(
          'select coalesce(sum(json_array_length(facts)), 0)::int as facts from execution_events where execution_id = $1',
          [executionId],
        );
        const [queue] = await database.query<{ state: number }>(
          'select state from execution_queue where execution_id = $1',
          [executionId],
        );
        if (queue?.state === 2) {
          report.progress(`resume: ${row!.facts} facts`);
          break;
        }
        await delay(20);
      }
      await first.close();
      await database.query('delete from execution_checkpoints');
      const second = await createPawl({ database: { url: database.url } });
      try {
        const startedAt = performance.now();
        await database.query('update execution_queue set due_at = now() where execution_id = $1', [executionId]);
        await second.executions.cancel('default', executionId);
        await second.result(executionId);
        return performance.now() - startedAt;
      } finally {
        await second.close();
      }
    };
    const short = await cost(10);
    const long = await cost(scaled(10_000));
    report.row('resume', 'pawl: 10 facts', 'ms', short);
    report.row('resume', 'pawl: 10,000 facts', 'ms', long);
  },
};

/** A loop over the items, and then a sleep. */
const longWorkflow = (id: string): Json => ({
  ...{ id, displayName: id, startNode: 'loop' },
  nodes: [
    {
      ...{ id: 'loop', actionType: 'core.echo', parameters: { x: '{{ item }}' }, edges: [{ targetNode: 'nap' }] },
      forEach: { items: '{{ trigger.items }}', parallel: 100, maxItems: 100_000 },
    },
    { id: 'nap', actionType: 'core.delay', parameters: { durationMs: 3_600_000 } },
  ],
});

const MEGABYTE = 1024 * 1024;

const artifactStream: Scenario = {
  name: 'artifact-stream',
  about: 'memory that an artifact of 1 GB takes while an attempt writes it',
  async run({ database, report, scaled }: Bench) {
    await database.clear();
    const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-artifacts-'));
    const chunks = Math.max(64, scaled(1_024));
    let most = 0;
    const before = () => process.memoryUsage().rss;
    let base = 0;
    const write = defineAction({
      ...{ type: 'core.bench-artifact', version: '1.0.0', connector: 'core', category: 'Bench' },
      params: z.looseObject({}),
      outputs: z.object({ sizeBytes: z.number() }),
      async run(_params, { artifacts }) {
        async function* content() {
          for (let index = 0; index < chunks; index++) {
            yield Buffer.alloc(MEGABYTE, index);
            most = Math.max(most, before() - base);
          }
        }
        const { sizeBytes = 0 } = await artifacts.put({ kind: 'custom', name: 'large.bin' }, content());
        return { outputs: { sizeBytes } };
      },
    });
    const pawl = await openPawl(database, { actions: [write], artifact: { folder } });
    try {
      const { workflowId } = await publish(pawl, chainWorkflow('artifact', 1, 'core.bench-artifact'));
      base = before();
      const { executionId } = await pawl.start(workflowId, { trigger: { x: 1 } });
      const { status } = await pawl.result(executionId);
      if (status !== 'Succeeded') throw new Error(`the artifact is ${status}`);
      report.row('artifact-stream', 'pawl', `MB of memory for ${chunks} MB`, most / MEGABYTE);
      report.ratio('artifact-stream/megabytes', most / MEGABYTE, { atMost: 64 });
    } finally {
      await pawl.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

const flood: Scenario = {
  name: 'flood',
  about: "p99 of a tenant's starts while another tenant floods starts, against alone",
  async run({ database, report, scaled }: Bench) {
    await database.clear();
    const pawl = await openPawl(database);
    try {
      for (const tenantId of ['loud', 'quiet']) await pawl.publish(chainWorkflow('one', 1) as never, { tenantId });
      const samples = scaled(1_000);
      const quiet = async () => {
        const times: number[] = [];
        for (let asked = 0; asked < samples; asked++) {
          const startedAt = performance.now();
          await pawl.start('one', { tenantId: 'quiet', trigger: { x: 1 } });
          times.push(performance.now() - startedAt);
        }
        return percentile(times, 0.99);
      };
      await quiet();
      const alone = await quiet();
      let isOver = false;
      const loud = Array.from({ length: 50 }, async () => {
        while (!isOver) await pawl.start('one', { tenantId: 'loud', trigger: { x: 1 } });
      });
      const beside = await quiet();
      isOver = true;
      await Promise.all(loud);
      report.row('flood', 'pawl: alone', 'ms p99', alone);
      report.row('flood', 'pawl: beside a flood', 'ms p99', beside);
      report.ratio('flood/p99', beside / alone, { atMost: 2 });
    } finally {
      await pawl.close();
    }
  },
};

const SETTLE_MS = 2_000;
const WATCH_MS = 20_000;
const SHORTEST_WATCH_MS = 4_000;

const idleWorker: Scenario = {
  name: 'idle-worker',
  about: 'queries/s of a worker that has nothing to do',
  async run({ database, report, scaled }: Bench) {
    await database.clear();
    const counter = await countQueries(database.url);
    const worker = await createWorker({ database: { url: counter.url }, taskQueues: [QUEUE] });
    try {
      await delay(SETTLE_MS);
      const before = counter.count();
      const watchMs = Math.max(SHORTEST_WATCH_MS, scaled(WATCH_MS));
      await delay(watchMs);
      const rate = (counter.count() - before) / (watchMs / 1000);
      report.row('idle-worker', 'pawl', 'queries/s', rate);
      report.ratio('idle-worker/queries-per-second', rate, { atMost: 2 });
    } finally {
      await worker.close();
      await counter.close();
    }
  },
};

export const planScenarios: readonly Scenario[] = [remoteAttempt, resume, artifactStream, flood, idleWorker];
