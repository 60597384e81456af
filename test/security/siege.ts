// An attacker of each kind beside a victim, on one real server (I21, I22). The victim starts one small workflow after the other
// and waits for each to end. Each attack is a tenant of its own, or has no tenant at all. The measurement is how long the victim
// waits. Quiet and attack take turns, so that both see the same machine: each round gives a ratio, and of several rounds the
// median counts.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { SignJWT } from 'jose';
import type { JsonObject } from '../../src/core/json/json.ts';
import type { Pawl } from '../../src/main.ts';
import { SCOPES } from '../../src/protocol/scope.ts';
import { halfSent, rawRequest } from './raw-request.ts';
import type { Flood } from './siege-flood.ts';

export const SIEGE_AUTH = {
  secret: 'a-shared-secret-of-the-siege-that-is-long-enough',
  issuer: 'https://siege.example',
  audience: 'siege',
};

export interface SiegeRow {
  readonly attack: string;
  readonly requests: number;
  readonly quietP99Ms: number;
  readonly p99Ms: number;
  /** The ratio of the two p99 values: the median of the rounds, the least and the most. */
  readonly ratio: number;
  readonly least: number;
  readonly most: number;
  readonly serverErrors: number;
  readonly unfinished: number;
  readonly heapMb: number;
}

interface Field {
  readonly url: string;
  readonly pawl: Pawl;
  token(tenant: string): Promise<string>;
  ask(token: string, method: string, path: string, body?: unknown): Promise<{ status: number; body: never }>;
  /** Aborts when the attack is over. */
  readonly over: AbortSignal;
  readonly silentUrl: string;
}

type Attack = (field: Field) => Promise<void>;

const graph = (id: string, nodes: JsonObject[]): JsonObject => ({ id, displayName: id, startNode: 'begin', nodes });
const fan = (id: string, count: number, node: JsonObject): JsonObject =>
  graph(id, [
    {
      id: 'begin',
      actionType: 'core.echo',
      parameters: {},
      edges: Array.from({ length: count }, (_, index) => ({ targetNode: `n${index}` })),
    },
    ...Array.from({ length: count }, (_, index) => ({ id: `n${index}`, ...node })),
  ]);

/** Keeps `count` requests going until the attack is over. The attacker ignores the answers. */
async function keep(count: number, { over }: Field, work: (index: number) => Promise<unknown>): Promise<void> {
  const one = async (index: number) => {
    while (!over.aborted) await work(index).catch(() => new Promise((resolve) => setTimeout(resolve, 20)));
  };
  await Promise.all(Array.from({ length: count }, (_, index) => one(index)));
}

async function flood(field: Field, workerData: Flood): Promise<void> {
  const worker = new Worker(new URL('./siege-flood.ts', import.meta.url), { workerData });
  await ended(field);
  await worker.terminate();
}

const ended = ({ over }: Field): Promise<void> =>
  new Promise((resolve) => {
    if (over.aborted) resolve();
    else over.addEventListener('abort', () => resolve(), { once: true });
  });

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'slow bodies of nobody': async (field) => {
    const sockets = Array.from({ length: 400 }, (_, index) =>
      rawRequest(field.url, halfSent('POST', index % 2 === 0 ? '/api/v1/events' : '/wh/x')),
    );
    await ended(field);
    for (const { socket } of sockets) socket.destroy();
  },
  'forged keys': (field) =>
    flood(field, { url: `${field.url}/api/v1/workflows`, atOnce: 8, method: 'GET', headers: {}, forgeKeys: true }),
  'calls that never come back': async (field) => {
    const call = {
      actionType: 'http.request',
      parameters: { url: field.silentUrl },
      policies: { timeoutMs: 3_600_000 },
    };
    await field.pawl.publish(fan('silent', 220, call), { tenantId: 'silent' });
    const { executionId } = await field.pawl.start('silent', { tenantId: 'silent' });
    await ended(field);
    await field.pawl.executions.cancel('silent', executionId, 'the siege is over').catch(() => {});
  },
  'large parameters': async (field) => {
    const large = { actionType: 'core.echo', parameters: { text: "{{ 'x'.repeat(900000) }}" } };
    await field.pawl.publish(fan('large', 100, large), { tenantId: 'large' });
    const ids: string[] = [];
    await keep(2, field, async () => ids.push((await field.pawl.start('large', { tenantId: 'large' })).executionId));
    const cancel = (id: string) => field.pawl.executions.cancel('large', id, 'the siege is over').catch(() => {});
    await Promise.all(ids.map(cancel));
    // Waits for the executions of this attack, so that they do not count in the next one.
    await Promise.all(ids.map((id) => field.pawl.result(id, { tenantId: 'large' }).catch(() => {})));
  },
  'streams and long polls': async (field) => {
    const token = await field.token('streams');
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    const wait = { actionType: 'core.delay', parameters: { durationMs: 600_000 } };
    await field.pawl.publish(graph('wait', [{ id: 'begin', ...wait }]), { tenantId: 'streams' });
    const { executionId } = await field.pawl.start('wait', { tenantId: 'streams' });
    const path = `${field.url}/api/v1/executions/${executionId}/events`;
    await keep(100, field, () => fetch(path, { headers, signal: field.over }).then((answer) => answer.text()));
    await field.pawl.executions.cancel('streams', executionId, 'the siege is over').catch(() => {});
  },
  'a flood of starts': async (field) => {
    await field.pawl.publish(graph('many', [{ id: 'begin', actionType: 'core.echo', parameters: {} }]), {
      tenantId: 'flood',
    });
    const headers = { authorization: `Bearer ${await field.token('flood')}`, 'content-type': 'application/json' };
    await flood(field, {
      url: `${field.url}/api/v1/workflows/many/execute`,
      ...{ atOnce: 8, method: 'POST', headers, body: '{}' },
    });
  },
};

interface Waits {
  readonly ms: number[];
  serverErrors: number;
  unfinished: number;
}

/** The victim runs one execution after the other, each from its start to its end. */
async function victim(field: Field, token: string): Promise<Waits> {
  const waits: Waits = { ms: [], serverErrors: 0, unfinished: 0 };
  while (!field.over.aborted || waits.ms.length === 0) {
    const began = performance.now();
    const started = await field.ask(token, 'POST', '/api/v1/workflows/victim/execute', {});
    if (started.status >= 500) waits.serverErrors++;
    const { executionId } = started.body as { executionId?: string };
    if (executionId === undefined) continue;
    const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), 60_000).unref());
    const result = await Promise.race([field.pawl.result(executionId, { tenantId: 'victim' }), late]);
    if (result?.status !== 'Succeeded') waits.unfinished++;
    waits.ms.push(performance.now() - began);
  }
  return waits;
}

export interface SiegePlan {
  /** How long each half of a round takes. */
  readonly seconds: number;
  readonly rounds: number;
  readonly attacks?: readonly string[];
}

export async function siege(
  pawl: Pawl,
  { seconds, rounds, attacks = Object.keys(ATTACKS) }: SiegePlan,
): Promise<SiegeRow[]> {
  const url = pawl.url!;
  const silent = await silentServer();
  const silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
  const victimGraph = graph('victim', [{ id: 'begin', actionType: 'core.echo', parameters: { hello: 'world' } }]);
  await pawl.publish(victimGraph, { tenantId: 'victim' });
  const token = await tokenOf('victim');
  const stretch = async (attack?: Attack): Promise<Waits> => {
    const over = new AbortController();
    const field: Field = { url, pawl, token: tokenOf, ask: asker(url), over: over.signal, silentUrl };
    const timer = setTimeout(() => over.abort(), seconds * 1_000);
    const [waits] = await Promise.all([victim(field, token), attack?.(field)]);
    clearTimeout(timer);
    return waits;
  };
  const rows: SiegeRow[] = [];
  try {
    await stretch();
    for (const attack of attacks) {
      const pairs: Round[] = [];
      for (let round = 0; round < rounds; round++) {
        pairs.push({ quiet: await stretch(), beside: await stretch(ATTACKS[attack]) });
      }
      rows.push(rowOf(attack, pairs));
    }
  } finally {
    silent.closeAllConnections();
    silent.close();
  }
  return rows;
}

interface Round {
  readonly quiet: Waits;
  readonly beside: Waits;
}

function rowOf(attack: string, rounds: readonly Round[]): SiegeRow {
  const ratios = rounds.map(({ quiet, beside }) => p99(beside) / p99(quiet));
  const sum = (of: (waits: Waits) => number) => rounds.reduce((total, { beside }) => total + of(beside), 0);
  return {
    attack,
    requests: sum(({ ms }) => ms.length),
    quietP99Ms: rounded(median(rounds.map(({ quiet }) => p99(quiet)))),
    p99Ms: rounded(median(rounds.map(({ beside }) => p99(beside)))),
    ratio: rounded(median(ratios)),
    least: rounded(Math.min(...ratios)),
    most: rounded(Math.max(...ratios)),
    serverErrors: sum(({ serverErrors }) => serverErrors),
    unfinished: sum(({ unfinished }) => unfinished),
    heapMb: Math.round(process.memoryUsage().heapUsed / 1024 / 1024),
  };
}

const sorted = (values: readonly number[]): number[] => values.toSorted((one, other) => one - other);
const p99 = ({ ms }: Waits): number => sorted(ms)[Math.floor(0.99 * (ms.length - 1))] ?? 0;
const median = (values: readonly number[]): number => sorted(values)[values.length >> 1] ?? 0;
const rounded = (value: number): number => Math.round(value * 10) / 10;

const tokenOf = (tenant: string): Promise<string> =>
  new SignJWT({ tenant_id: tenant, scope: SCOPES.join(' '), roles: [] })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(SIEGE_AUTH.issuer)
    .setAudience(SIEGE_AUTH.audience)
    .setSubject('siege')
    .setExpirationTime('2h')
    .sign(new TextEncoder().encode(SIEGE_AUTH.secret));

const asker = (url: string): Field['ask'] =>
  async function ask(token, method, path, body) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(url + path, { method, headers, body: JSON.stringify(body ?? {}) });
    return { status: answer.status, body: (await answer.json().catch(() => ({}))) as never };
  };

/** Accepts connections and never answers. */
function silentServer(): Promise<Server> {
  const server = createServer(() => {});
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}
