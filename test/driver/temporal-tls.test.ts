// Temporal behind TLS that demands a client certificate and an API key, like a cluster with mutual TLS or Temporal Cloud: a real
// server behind a proxy that checks both.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPawl, type PawlOptions } from '../../src/main.ts';
import { eventually } from '../engine/engine-under-test.ts';
import { echo, graph, to } from '../engine/workflow-definition.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { startTemporal, type TestServer, temporalMissing } from './temporal-server.ts';

const API_KEY = 'key-4711';
const UNAUTHENTICATED = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' };
const folder = mkdtempSync(join(tmpdir(), 'pawl-mtls-'));
const file = (name: string) => join(folder, name);
const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });

/** A certificate authority, and certificates that it signed for a server and a client. */
function makeCertificates(): void {
  const fresh = ['-newkey', 'rsa:2048', '-nodes', '-days', '1'];
  openssl('req', '-x509', ...fresh, '-subj', '/CN=authority', '-keyout', file('ca.key'), '-out', file('ca.crt'));
  writeFileSync(file('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1');
  for (const name of ['server', 'client']) {
    openssl('req', ...fresh, '-subj', `/CN=${name}`, '-keyout', file(`${name}.key`), '-out', file(`${name}.csr`));
    const signed = ['-CA', file('ca.crt'), '-CAkey', file('ca.key'), '-CAcreateserial', '-days', '1'];
    openssl(
      ...['x509', '-req', '-in', file(`${name}.csr`), ...signed],
      ...['-extfile', file('names'), '-out', file(`${name}.crt`)],
    );
  }
}

/** Passes a call on, with its trailers, if it carries the API key. */
function openDoor(address: string): Http2SecureServer {
  const inside = connect(`http://${address}`);
  inside.on('error', () => {});
  const door = createSecureServer({
    key: readFileSync(file('server.key')),
    cert: readFileSync(file('server.crt')),
    ca: readFileSync(file('ca.crt')),
    requestCert: true,
    rejectUnauthorized: true,
  });
  door.on('tlsClientError', () => {});
  door.on('sessionError', () => {});
  door.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => {});
    if (headers.authorization !== `Bearer ${API_KEY}`) {
      stream.respond({ ...UNAUTHENTICATED, 'grpc-message': 'no such key' }, { endStream: true });
      return;
    }
    const call = inside.request(headers);
    call.on('error', () => stream.close());
    stream.on('close', () => call.close());
    stream.pipe(call);
    call.on('response', (answer, flags) => {
      if ((flags & 1) === 1) return stream.respond(answer, { endStream: true });
      stream.respond(answer, { waitForTrailers: true });
      const trailers = once(call, 'trailers');
      stream.on('wantTrailers', () => void trailers.then(([last]) => stream.sendTrailers(last)));
      call.pipe(stream);
    });
  });
  door.on('close', () => inside.close());
  return door.listen(0, '127.0.0.1');
}

describe.skipIf(temporalMissing !== null)('Temporal with mutual TLS and an API key', { timeout: 120_000 }, () => {
  let engine: TestServer;
  let door: Http2SecureServer;
  let database: TestDatabase;
  beforeAll(async () => {
    makeCertificates();
    [engine, database] = await Promise.all([startTemporal(), testDatabase()]);
    door = openDoor(engine.address);
    await once(door, 'listening');
  }, 120_000);
  afterAll(async () => {
    door?.close();
    await engine?.stop();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  const own = () => ({ caFile: file('ca.crt'), certFile: file('client.crt'), keyFile: file('client.key') });
  /** Starts an execution with these settings, and closes the Pawl that ran it. */
  async function withPawl<Result>(
    temporal: NonNullable<PawlOptions['temporal']>,
    look: (pawl: Awaited<ReturnType<typeof createPawl>>, executionId: string) => Promise<Result>,
  ): Promise<Result> {
    const address = `localhost:${(door.address() as AddressInfo).port}`;
    const pawl = await createPawl({
      database: { url: database.connectionString },
      driver: { default: 'temporal' },
      temporal: { address, ...temporal },
    });
    try {
      await pawl.publish(graph('guarded', [echo('a', {}, to('b')), echo('b', { done: true })]));
      return await look(pawl, (await pawl.start('guarded')).executionId);
    } finally {
      await pawl.close();
    }
  }
  const why = (temporal: NonNullable<PawlOptions['temporal']>, says: RegExp) =>
    withPawl(temporal, async (pawl, executionId) => {
      const error = async () => pawl.queries.engineError(await pawl.executions.get('default', executionId));
      await eventually(error).toMatch(says);
      await pawl.executions.cancel('default', executionId);
    });

  test('an execution runs on Temporal with a client certificate and an API key', async () => {
    process.env.TEMPORAL_KEY_OF_TEST = API_KEY;
    const apiKey = { provider: 'env' as const, key: 'TEMPORAL_KEY_OF_TEST' };
    const result = await withPawl({ tls: own(), apiKey }, (pawl, executionId) => pawl.result(executionId));
    delete process.env.TEMPORAL_KEY_OF_TEST;
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { done: true } });
  });

  test('an execution says that the client certificate is missing', () =>
    why(
      { tls: { caFile: file('ca.crt') }, apiKey: API_KEY },
      /refused the TLS connection: .*certificate required\. Check temporal\.tls\.caFile, certFile/,
    ));

  test('an execution says that the API key is wrong', () =>
    why({ tls: own(), apiKey: 'another' }, /does not let us in: no such key.*Check temporal\.apiKey/));
});
