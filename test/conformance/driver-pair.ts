// One installation with two engines, so that the same definition can be run on each and what came of it compared (I25).

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Fact } from '../../src/core/decider/fact.ts';
import type { Json, JsonObject } from '../../src/core/json/json.ts';
import type { Plan } from '../../src/core/plan/plan.ts';
import { nodeIdAt } from '../../src/core/plan/virtual-node.ts';
import { createPawl, type Pawl } from '../../src/main.ts';
import type { Driver } from '../../src/protocol/driver.ts';
import type { OutsideDriver } from '../../src/store/external-port.ts';
import { conductorMissing, startConductor } from '../driver/conductor-server.ts';
import { startTemporal, type TestServer, temporalMissing } from '../driver/temporal-server.ts';
import { type ControlledAction, controlledAction } from '../engine/controlled-action.ts';
import { checkReplay } from '../engine/replay-check.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

export const TENANT = 'default';

export interface DriverPair {
  readonly pawl: Pawl;
  readonly work: ControlledAction;
  readonly server: TestServer;
  /** What the installation has warned of. */
  readonly warnings: readonly Readonly<Record<string, unknown>>[];
  /** An HTTP server that echoes what it is sent: `/ok`, or answers with the status that the path names. */
  readonly url: string;
}

export interface PairOptions {
  /** The engine beside the native one. */
  readonly driver?: OutsideDriver;
  /** Small, to continue Temporal's histories in new runs all the time. */
  readonly maxEvents?: number;
  /** What Pawl talks to instead of the engine itself. */
  readonly behind?: (address: string) => Promise<string>;
}

const MISSING = { temporal: temporalMissing, conductor: conductorMissing };
const START = { temporal: startTemporal, conductor: startConductor };

export function driverPair({ driver = 'temporal', maxEvents, behind = async (address) => address }: PairOptions = {}) {
  const work = controlledAction('test.work');
  const warnings: Record<string, unknown>[] = [];
  const artifacts = mkdtempSync(join(tmpdir(), 'pawl-pair-'));
  let database: TestDatabase;
  let pawl: Pawl;
  let server: TestServer;
  let web: Server;

  beforeAll(async () => {
    if (MISSING[driver] !== null) return;
    web = createServer(answer).listen(0, '127.0.0.1');
    [database, server] = await Promise.all([testDatabase(), START[driver]()]);
    const address = await behind(server.address);
    pawl = await createPawl({
      actions: [work.definition],
      database: { url: database.connectionString },
      engine: { pollMs: 20, inboxPollMs: 20, parkAfterMs: 50, abortGraceMs: 1_000, drainMs: 2_000 },
      http: { allowLoopback: true },
      artifact: { folder: artifacts },
      secrets: [{ name: 'test', get: ({ key }) => `secret-of-${key}` }],
      onWarning: (event, details) => warnings.push({ event, ...details }),
      ...(driver === 'temporal' ? { temporal: { address, maxEvents } } : { conductor: { url: address } }),
    });
  }, 300_000);
  afterAll(async () => {
    await pawl?.close();
    await server?.stop();
    await database?.drop();
    web?.close();
    rmSync(artifacts, { recursive: true, force: true });
  });
  return {
    work,
    warnings,
    get pawl() {
      return pawl;
    },
    get server() {
      return server;
    },
    get url() {
      return `http://127.0.0.1:${(web.address() as { port: number }).port}`;
    },
  } satisfies DriverPair;
}

const answer: Parameters<typeof createServer>[1] = (request, response) => {
  const status = Number(/\/(\d{3})/.exec(request.url ?? '')?.[1] ?? 200);
  let body = '';
  request.on('data', (piece) => {
    body += piece;
  });
  request.on('end', () => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ path: request.url, body: body === '' ? null : JSON.parse(body) }));
  });
};

export interface Story {
  readonly status: string;
  readonly outputs: unknown;
  readonly error: unknown;
  readonly nodes: Readonly<Record<string, string>>;
  readonly attempts: readonly string[];
  /** What happened to each node, and to the execution itself, in order. */
  readonly facts: Readonly<Record<string, readonly string[]>>;
  readonly letters: readonly string[];
  readonly children: readonly Story[];
}

/** Everything about an execution that must not depend on what ran it. */
export async function storyOf(pawl: Pawl, executionId: string, driver: Driver): Promise<Story> {
  const { store, executions } = pawl;
  const view = await executions.get(TENANT, executionId);
  expect(view.driver ?? 'native').toBe(driver);
  const { state } = await executions.inspect(TENANT, executionId);
  const { plan } = state;
  const attempts = await store.executionAttempts({ executionId, parameters: true });
  const journal = await store.executionJournal({ executionId, afterSeq: -1, limit: 100_000 });
  const children = await store.executionChildren({ executionId });
  const stories = await Promise.all(children.map((child) => storyOf(pawl, child.executionId, driver)));
  const letters = await store.deadLetterList({ tenantId: TENANT, afterId: '0', limit: 1_000 });
  return {
    status: view.status,
    outputs: timelessValue(unnamed(parsed(view.outputs))),
    error: unnamed(parsed(view.error)),
    nodes: Object.fromEntries(plan.nodes.map(({ id }, index) => [id, state.nodes[index]!.status])),
    attempts: attempts
      .map(
        (row) =>
          `${row.nodeId}:${row.attempt} ${row.status} ${ids(row.parameters ?? null)} ${ids(timelessText(row.outputs))} ${ids(row.error)}`,
      )
      .sort(),
    facts: factsByNode(
      plan,
      journal.flatMap((row) => JSON.parse(row.facts) as Fact[]),
    ),
    letters: letters
      .filter((letter) => letter.executionId === executionId)
      .map(({ reason, lastError, attempts: tries }) => `${reason} ${lastError} ${tries}`),
    children: stories.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
  };
}

/** Of two parallel nodes, or items, either may be the first: their edges and items are compared without their order. */
const UNORDERED: Partial<Record<Fact['type'], string>> = { EdgesResolved: '(edges)', ItemFinished: '(items)' };

function factsByNode(plan: Plan, facts: readonly Fact[]): Record<string, string[]> {
  const told: Record<string, string[]> = {};
  for (const fact of facts) {
    const node = 'node' in fact && fact.node !== undefined ? nodeIdAt(plan, fact.node) : '';
    const whose = UNORDERED[fact.type] ?? node;
    told[whose] ??= [];
    told[whose].push(timeless(fact));
  }
  for (const whose of Object.values(UNORDERED)) told[whose]?.sort();
  return told;
}

/** Times, deadlines and ids differ from run to run. */
function timeless(fact: Fact): string {
  const { type, ...rest } = fact as Fact & Record<string, unknown>;
  const kept = Object.entries(rest).filter(([key]) => !DIFFERS.has(key));
  return ids(`${type} ${JSON.stringify(timelessValue(Object.fromEntries(kept) as Json))}`)!;
}

const DIFFERS = new Set(['until', 'deadline', 'graceUntil', 'childId', 'signalId', 'outputs', 'bytes']);
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const ids = (text: string | null): string | null => text?.replaceAll(UUID, 'ID') ?? null;
const unnamed = (value: unknown): unknown => (value === null ? null : JSON.parse(ids(JSON.stringify(value))!));
const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text));
const timelessText = (text: string | null): string | null =>
  text === null ? null : JSON.stringify(timelessValue(JSON.parse(text)));

/** What an HTTP answer says of its own time. */
const TIMES = new Set(['date', 'durationMs', 'duration_ms', 'x-correlation-id']);

function timelessValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(timelessValue);
  if (value === null || typeof value !== 'object') return value;
  const kept = Object.entries(value).filter(([key]) => !TIMES.has(key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, timelessValue(inner)]));
}

export interface Doing {
  readonly pawl: Pawl;
  /** The attempts of this execution. */
  readonly work: Pick<ControlledAction, 'next'>;
  readonly executionId: string;
}

const TRY_AGAIN_MS = 1_000;
/** Both say: come back later. */
const BUSY = new Set(['ENGINE_UNAVAILABLE', 'UNAVAILABLE']);

/** An engine that has just begun, or a machine with much to do, may be too slow for a while: a client tries again, as it is told to. */
async function accepted(pawl: Pawl, ...start: Parameters<Pawl['start']>): Promise<string> {
  for (;;) {
    try {
      return (await pawl.start(...start)).executionId;
    } catch (error) {
      if (!BUSY.has((error as { code?: string }).code ?? '')) throw error;
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
    }
  }
}

/** Publishes, starts on the driver, does what the case does meanwhile, waits for the end, and tells the story. */
export async function runOn(
  { pawl, work, url }: DriverPair,
  driver: Driver,
  definition: JsonObject,
  { trigger, during }: { trigger?: Json | undefined; during?: ((doing: Doing) => Promise<void>) | undefined } = {},
): Promise<Story> {
  const { workflowId } = await pawl.publish(definition);
  const executionId = await accepted(pawl, workflowId, { driver, trigger: trigger ?? { url } });
  await during?.({ pawl, work: work.of(executionId), executionId });
  await pawl.result(executionId);
  await checkReplay(pawl, [{ executionId, tenantId: TENANT }]);
  return storyOf(pawl, executionId, driver);
}
