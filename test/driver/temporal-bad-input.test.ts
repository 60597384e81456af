// What a person who sets up Temporal wrongly is told: by the API, by the command line and in the log, each time with the next
// step.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import type { PawlOptions } from '../../src/main.ts';
import { pawl as cli } from '../cli/dev-process.ts';
import { eventually } from '../engine/engine-under-test.ts';
import { plan } from '../engine/workflow-definition.ts';
import { chain, echo, tokenFor, useServer } from '../server/api-server.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { startTemporal, type TestServer, temporalMissing } from './temporal-server.ts';

const NOBODY = '127.0.0.1:1';
const folder = mkdtempSync(join(tmpdir(), 'pawl-bad-input-'));
const [certificate, key, foreign] = ['own.crt', 'own.key', 'foreign.crt'].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];
let listener: Server;
const proxies: TcpProxy[] = [];
const proxy = async () => {
  const opened = await startTcpProxy();
  proxies.push(opened);
  return opened;
};
const [plain, late] = temporalMissing === null ? [await proxy(), await proxy()] : [];
const tlsPort = temporalMissing === null ? await encrypted() : 0;

/** A server whose certificate nobody has signed. */
async function encrypted(): Promise<number> {
  for (const [file, keyFile] of [
    [certificate, key],
    [foreign, join(folder, 'foreign.key')],
  ] as const) {
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    const files = ['-keyout', keyFile, '-out', file];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject, ...files], {
      stdio: 'ignore',
    });
  }
  listener = createServer({ cert: readFileSync(certificate), key: readFileSync(key), ALPNProtocols: ['h2'] });
  listener.on('tlsClientError', () => {});
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return (listener.address() as AddressInfo).port;
}

describe.skipIf(temporalMissing !== null)('a wrong Temporal setup', { timeout: 120_000 }, () => {
  let engine: TestServer;
  beforeAll(async () => {
    engine = await startTemporal();
    const port = Number(engine.address.split(':')[1]);
    plain!.target(port);
    const { connection } = await client('default');
    // A namespace without the search attributes of Pawl.
    const retention = { workflowExecutionRetentionPeriod: { seconds: 86_400 as never } };
    await connection.workflowService.registerNamespace({ namespace: 'bare', ...retention });
    await connection.close();
  }, 120_000);
  afterAll(async () => {
    await engine?.stop();
    for (const each of proxies) await each.close();
    listener?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const client = async (namespace: string) =>
    new Client({ connection: await Connection.connect({ address: engine.address }), namespace });

  const there = `127.0.0.1:${plain?.port}`;
  const wrong: readonly {
    name: string;
    temporal: NonNullable<PawlOptions['temporal']>;
    says: RegExp;
    /** What `pawl temporal setup` says with the same settings; absent: the command fixes the mistake. */
    setup?: RegExp;
  }[] = [
    {
      name: 'an address where nobody answers',
      temporal: { address: NOBODY },
      says: /Temporal does not answer at 127\.0\.0\.1:1.*Start it .* or set temporal\.address/,
      setup: /Temporal does not answer at 127\.0\.0\.1:1.*set temporal\.address/,
    },
    {
      name: 'a namespace that does not exist',
      temporal: { address: there, namespaceTemplate: 'nowhere', autoSetup: false },
      says: /has no namespace "nowhere"\. Run: pawl temporal setup/,
    },
    {
      name: 'a namespace without the search attributes',
      temporal: { address: there, namespaceTemplate: 'bare', autoSetup: false },
      says: /"bare" .*lacks a search attribute.*Run: pawl temporal setup/,
    },
    {
      name: 'a certificate of somebody else',
      temporal: { address: `localhost:${tlsPort}`, tls: { caFile: foreign } },
      says: /refused the TLS connection.*Check temporal\.tls\.caFile/,
      setup: /refused the TLS connection.*Check temporal\.tls\.caFile/,
    },
    {
      name: 'a certificate that cannot be read',
      temporal: { address: there, tls: { caFile: '/nowhere/ca.pem' } },
      says: /temporal\.tls\.caFile: \/nowhere\/ca\.pem cannot be read/,
      setup: /temporal\.tls\.caFile: \/nowhere\/ca\.pem cannot be read/,
    },
  ];

  describe.each(wrong)('$name', ({ temporal, says, setup }) => {
    const warnings: JsonObject[] = [];
    const server = useServer({
      driver: { default: 'temporal' },
      temporal,
      onWarning: (event, details) => warnings.push({ event, ...(details as JsonObject) }),
    });

    test('the mistake is reported with the next step on the execution, by pawl describe and in the log', async () => {
      await server.pawl.publish(chain('one', echo('a')), { tenantId: 'acme' });
      const { status, body } = await server.post('/api/v1/workflows/one/execute', { trigger: {} });
      expect(status).toBe(202);
      const id = String(body.executionId);
      const seen = async () => (await server.get(`/api/v1/executions/${id}`)).body;
      await eventually(async () => (await seen()).engineError).toMatch(says);
      expect((await seen()).status).toBe('Pending');
      expect(warnings).toContainEqual(
        expect.objectContaining({
          event: 'an execution could not be handed over; it waits',
          executionId: id,
          error: expect.stringMatching(says),
        }),
      );
      const described = await cli({ PAWL_URL: server.url, PAWL_TOKEN: await tokenFor() }, 'describe', id);
      expect(described.stdout.replaceAll(/\s+/g, ' ')).toMatch(says);
    });

    test.skipIf(setup === undefined)('the mistake is reported by pawl temporal setup', async () => {
      const { address, tls } = temporal;
      const env = {
        PAWL_TEMPORAL_ADDRESS: address!,
        ...(tls === undefined ? {} : { PAWL_TEMPORAL_TLS: JSON.stringify(tls) }),
      };
      const { code, stderr } = await cli(env, 'temporal', 'setup');
      expect(code).toBe(2);
      expect(stderr).toMatch(setup!);
      expect(stderr).not.toMatch(/\n\s+at /);
    });
  });

  describe('a right Temporal setup', () => {
    const warnings: JsonObject[] = [];
    const server = useServer({
      driver: { default: 'temporal' },
      temporal: { address: `127.0.0.1:${late?.port}`, namespaceTemplate: 'bad-input' },
      onWarning: (event, details) => warnings.push({ event, ...(details as JsonObject) }),
    });
    const back = () => late!.target(Number(engine.address.split(':')[1]));
    const start = async (definition: JsonObject, name = String(definition.id)) => {
      await server.pawl.publish(definition, { tenantId: 'acme' });
      const { body } = await server.post(`/api/v1/workflows/${name}/execute`, { trigger: {} });
      return String(body.executionId);
    };
    const oneStep = (id: string, type: string, taskQueue: string): JsonObject => {
      const { steps, scope, ...rest } = plan(id, { a: [] }) as { steps: JsonObject[]; scope: JsonObject };
      return {
        ...rest,
        scope: { ...scope, tenantId: 'acme' },
        steps: [{ ...steps[0]!, type, dispatch: { taskQueue } }],
      };
    };
    const seen = async (id: string) => (await server.get(`/api/v1/executions/${id}`)).body;
    const lookNow = async (id: string) => {
      const ref = await server.pawl.store.externalGet({ executionId: id });
      await server.pawl.store.externalNote({ executionId: id, epoch: 1, ref: ref!.ref!, lookAfterMs: 0 });
    };

    test('a workflow id that is taken by somebody else fails the execution with the reason', async () => {
      late!.target(null);
      await cli(
        { PAWL_TEMPORAL_ADDRESS: engine.address, PAWL_TEMPORAL_NAMESPACE_TEMPLATE: 'bad-input' },
        'temporal',
        'setup',
      );
      const id = await start(chain('taken', echo('a')));
      const other = await client('bad-input');
      await other.workflow.start('somebodyElses', { workflowId: `pawl/${id}/1`, taskQueue: 'theirs' });
      await other.connection.close();
      back();
      await eventually(async () => (await seen(id)).engineRunRef).toMatchObject({ workflowId: `pawl/${id}/1` });
      await lookNow(id);
      await eventually(async () => (await seen(id)).status).toBe('Failed');
      expect(JSON.stringify((await seen(id)).error)).toMatch(
        /RUN_NAME_TAKEN.*somebodyElses.*namespace that only Pawl uses/,
      );
      expect(warnings).toContainEqual(expect.objectContaining({ executionId: id, state: 'foreign' }));
    });

    test('a task queue without a worker is reported with the command that starts one', async () => {
      back();
      const id = await start(oneStep('unserved', 'core.echo', 'tq-gpu'), 'unserved');
      await eventually(async () => (await seen(id)).status).toBe('Running');
      await lookNow(id);
      const says =
        /node "a" waits for a worker of task queue "tq-gpu".*pawl runner --driver temporal --task-queue tq-gpu/;
      await eventually(async () => (await seen(id)).engineError).toMatch(says);
      expect(warnings).toContainEqual(
        expect.objectContaining({ event: 'an execution waits for a worker', executionId: id }),
      );
      await server.pawl.executions.cancel('acme', id);
      await eventually(async () => (await seen(id)).status).toBe('Cancelled');
    });

    test('an action that the worker lacks fails the node, and the error says where actions come from', async () => {
      back();
      const id = await start(oneStep('absent-action', 'mine.absent', 'tq-control-default'), 'absent-action');
      await eventually(async () => (await seen(id)).status).toBe('Failed');
      expect(JSON.stringify((await seen(id)).error)).toMatch(/ACTION_NOT_FOUND.*mine\.absent.*--actions/);
    });

    test('an unknown or unconfigured driver is refused, and the error names the configured ones', async () => {
      await server.pawl.publish(chain('one', echo('a')), { tenantId: 'acme' });
      const unknown = await server.post('/api/v1/workflows/one/execute', { trigger: {}, driver: 'airflow' });
      expect(unknown.status).toBe(400);
      expect(JSON.stringify(unknown.body)).toMatch(/native.*temporal.*conductor/);
      const missing = await server.post('/api/v1/workflows/one/execute', { trigger: {}, driver: 'conductor' });
      expect(missing).toMatchObject({ status: 400, body: { error: { code: 'DRIVER_NOT_CONFIGURED' } } });
      expect(JSON.stringify(missing.body)).toMatch(/it has native, temporal\. Set conductor\.url/);
      const typed = await cli(
        { PAWL_URL: server.url, PAWL_TOKEN: await tokenFor() },
        'start',
        'one',
        '--driver',
        'airflow',
      );
      expect(typed).toMatchObject({ code: 2, stderr: expect.stringMatching(/native, temporal, conductor/) });
    });
  });
});
