// How fast the store commits: batches of 128 transitions, three slots at once, on an embedded PostgreSQL or DATABASE_URL.
// Each transition is one journal row and one finished attempt; every tenth ends its execution. Also start, claim and load.
//   node bench/store-commit.ts

import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../src/store/embedded/embedded.ts';
import { migrateUp } from '../src/store/migrate/migrate.ts';
import type { CommitBatch, NewExecution, Store } from '../src/store/port.ts';
import { createPostgresStore } from '../src/store/postgres/postgres-store.ts';

const EXECUTIONS = 12_800;
const STEPS = 10;
const BATCH = 128;
const COMMIT_SLOTS = 3;

await withDatabase(async (connectionString) => {
  await migrateUp({ connectionString });
  const store = createPostgresStore({ connectionString });
  for (let round = 0; round < 3; round++) await measure(store);
  await store.close();
});

async function measure(store: Store): Promise<void> {
  const ids = Array.from({ length: EXECUTIONS }, timeOrderedId);
  const { runnerId, slotIds } = await store.runnerRegister({ name: 'bench', slots: COMMIT_SLOTS + 1, leaseMs: 60_000 });
  const [claimSlot, ...commitSlots] = slotIds;

  await timed('start', EXECUTIONS, () =>
    eachBatch(ids, (part) => store.executionStart({ items: part.map(newExecution) })),
  );
  const claimed: string[] = [];
  await timed('claim', EXECUTIONS, async () => {
    for (let found = BATCH; found > 0; ) {
      const lanes = [{ tenantId: 'bench', priority: 5, mark: 0 }];
      const result = await store.executionClaim({
        slotId: claimSlot!,
        lanes,
        perLane: BATCH,
        limit: BATCH,
        behaviour: 1,
      });
      found = result.claimed.length;
      claimed.push(...result.claimed.map(({ executionId }) => executionId));
    }
  });
  await timed('load', EXECUTIONS, () =>
    eachBatch(claimed, (executionIds) => store.executionLoad({ executionIds, deciderVersion: 1 })),
  );

  const batches = Array.from({ length: STEPS }, (_, step) => chunks(claimed).map((part) => ({ part, step }))).flat();
  const cpu = process.cpuUsage();
  await timed('commit', EXECUTIONS * STEPS, async () => {
    await Promise.all(
      commitSlots.map(async (slotId) => {
        for (let next = batches.shift(); next !== undefined; next = batches.shift()) {
          await store.executionCommit(transitions(slotId, next.part, next.step));
        }
      }),
    );
  });
  const { user, system } = process.cpuUsage(cpu);
  console.log(`        ${((user + system) / EXECUTIONS / STEPS).toFixed(1)} µs of Node's CPU per transition`);
  await store.runnerStop({ runnerId });
}

function transitions(slotId: string, ids: string[], step: number): CommitBatch {
  const at = Date.now();
  const last = step === STEPS - 1;
  return {
    slotId,
    events: ids.map((executionId) => ({
      executionId,
      seq: step * 3,
      at,
      facts: `[{"type":"NodeSucceeded","node":${step},"attempt":1,"outputs":null,"bytes":7},{"type":"EdgesResolved","satisfied":[${step}],"unsatisfied":[]},{"type":"NodeStarted","node":${step + 1},"attempt":1}]`,
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
    })),
    outcomes: (last ? ids : []).map((executionId) => ({
      executionId,
      tenantId: 'bench',
      status: 'Succeeded',
      outputs: '{"x":1}',
      error: null,
      contextSnapshot: null,
      startedAt: at,
      endedAt: at,
    })),
    ended: last ? ids : [],
    children: [],
    consumed: [],
    sent: [],
    links: [],
    logs: [],
  };
}

function newExecution(executionId: string): NewExecution {
  return {
    executionId,
    tenantId: 'bench',
    workflowId: 'ten-steps',
    version: 1,
    format: 'graph',
    priority: 5,
    trigger: '{"a":1}',
    spec: null,
    principal: '{"userId":"bench"}',
    correlationId: executionId,
    requestId: executionId,
    parentId: null,
    parentNode: null,
    depth: 0,
    projectId: 'default',
    environmentId: 'default',
    createdAt: Date.now(),
  };
}

async function eachBatch(ids: string[], work: (part: string[]) => Promise<unknown>): Promise<void> {
  for (const part of chunks(ids)) await work(part);
}

function chunks(ids: string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, i) => ids.slice(i * BATCH, (i + 1) * BATCH));
}

/** uuid v7: ids in order of time keep the tail of every index in memory. */
function timeOrderedId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

async function timed(label: string, count: number, work: () => Promise<void>): Promise<void> {
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  console.log(`${label.padEnd(8)}${Math.round(count / seconds)}/s`);
}

async function withDatabase(work: (connectionString: string) => Promise<void>): Promise<void> {
  if (process.env.DATABASE_URL) return work(process.env.DATABASE_URL);
  const dataDir = mkdtempSync(join(tmpdir(), 'pawl-bench-'));
  // Private by default, which would keep out the account that the database runs as when we are root.
  chmodSync(dataDir, 0o755);
  const server = await startEmbedded({ dataDir });
  try {
    await work(server.connectionString);
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
