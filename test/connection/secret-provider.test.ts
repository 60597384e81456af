// Keepers of secrets: AWS's own client against moto's server, HashiCorp Vault against a stand-in that checks what the real one
// checks. Each gives a tenant its own secrets and nobody else's, and tells a secret that is not there from a keeper that is away.

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { moto } from '../../scripts/server/moto.ts';
import { type RunningServer, startListening } from '../../scripts/server/server.ts';
import { awsSecrets } from '../../src/secret/aws/aws-secrets.ts';
import { plainName } from '../../src/secret/secret.ts';
import { vaultSecrets } from '../../src/secret/vault/vault-secrets.ts';

const of = (tenantId: string) => ({ tenantId, environmentId: 'prod', principalId: null });
const program = moto.find();
if (program === null)
  console.warn('SKIPPED: AWS Secrets Manager is not tested, because there is no moto; `npm run servers`');

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** A server that answers as a real one would. */
function useStandIn(answer: (request: IncomingMessage, url: URL) => Reply): () => string {
  let url = '';
  const server = createServer((request, response) => {
    const { status, body, headers } = answer(request, new URL(request.url!, 'http://stand-in'));
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body ?? {}));
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));
  return () => url;
}

describe.skipIf(program === null)('AWS Secrets Manager', { timeout: 120_000 }, () => {
  let running: RunningServer;
  let endpoint: string;
  const region = 'eu-central-1';
  beforeAll(async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'key').stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    const port = await freePort();
    running = await startListening(program!, ['-H', '127.0.0.1', '-p', String(port)], port);
    endpoint = `http://${running.address}`;
    const { SecretsManagerClient, CreateSecretCommand, PutSecretValueCommand } = await import(
      '@aws-sdk/client-secrets-manager'
    );
    const client = new SecretsManagerClient({ region, endpoint });
    await client.send(new CreateSecretCommand({ Name: 'pawl/acme/crm/token', SecretString: 'first' }));
    await client.send(new PutSecretValueCommand({ SecretId: 'pawl/acme/crm/token', SecretString: 'second' }));
    await client.send(new CreateSecretCommand({ Name: 'pawl/acme/binary', SecretBinary: Buffer.from('bytes') }));
    client.destroy();
  }, 120_000);
  afterAll(() => {
    vi.unstubAllEnvs();
    running?.process.kill();
  });

  it('gives the latest version, an older one by its label, and bytes as text', async () => {
    const provider = awsSecrets({ region, endpoint, prefix: 'pawl/{tenant}/' });
    expect(await provider.get({ key: 'crm/token' }, of('acme'))).toBe('second');
    expect(await provider.get({ key: 'crm/token', version: 'AWSPREVIOUS' }, of('acme'))).toBe('first');
    expect(await provider.get({ key: 'binary' }, of('acme'))).toBe('bytes');
    await provider.check!(AbortSignal.timeout(10_000));
  });

  it('has nothing for another tenant, or under another name', async () => {
    const provider = awsSecrets({ region, endpoint, prefix: 'pawl/{tenant}/' });
    expect(await provider.get({ key: 'crm/token' }, of('other'))).toBeUndefined();
    expect(await provider.get({ key: 'nothing' }, of('acme'))).toBeUndefined();
  });
});

describe('HashiCorp Vault', () => {
  const state = { isSealed: false };
  const versions: Record<string, (string | null)[]> = {
    'pawl/acme/crm/token': ['first', 'second'],
    'pawl/acme/gone': [null],
  };
  const url = useStandIn((request, { pathname, searchParams }) => {
    if (pathname === '/v1/sys/health') return { status: state.isSealed ? 503 : 200, body: { sealed: state.isSealed } };
    if (state.isSealed) return { status: 503, body: { errors: ['Vault is sealed'] } };
    if (request.headers['x-vault-token'] !== 'right') return { status: 403, body: { errors: ['permission denied'] } };
    const path = decodeURIComponent(pathname).replace(/^\/v1\/secret\/data\//, '');
    const kept = versions[path] ?? [];
    const version = Number(searchParams.get('version') ?? kept.length);
    const value = kept[version - 1];
    if (value === undefined) return { status: 404, body: { errors: [] } };
    // A version that was deleted: 404 with its metadata.
    const data = { data: value === null ? null : { value }, metadata: { version } };
    return { status: value === null ? 404 : 200, body: { data } };
  });
  const vault = (token = 'right') =>
    vaultSecrets({ address: url(), token, mount: 'secret', path: 'pawl/{tenant}', timeoutMs: 5_000 });

  it('gives the latest version and an older one; nothing of what was deleted, or of another tenant', async () => {
    expect(await vault().get({ key: 'crm/token' }, of('acme'))).toBe('second');
    expect(await vault().get({ key: 'crm/token', version: '1' }, of('acme'))).toBe('first');
    expect(await vault().get({ key: 'crm/token', version: '9' }, of('acme'))).toBeUndefined();
    expect(await vault().get({ key: 'gone' }, of('acme'))).toBeUndefined();
    expect(await vault().get({ key: 'crm/token' }, of('other'))).toBeUndefined();
  });

  it('that refuses the token, or is sealed, is away: the attempt is tried again, and health tells', async () => {
    await expect(vault('wrong').get({ key: 'crm/token' }, of('acme'))).rejects.toThrow('403: permission denied');
    await vault().check!(AbortSignal.timeout(5_000));
    state.isSealed = true;
    await expect(vault().get({ key: 'crm/token' }, of('acme'))).rejects.toThrow('503: Vault is sealed');
    await expect(vault().check!(AbortSignal.timeout(5_000))).rejects.toThrow('sealed');
    state.isSealed = false;
  });
});

it('S1: no key of a tenant is the name of another tenant’s secret', () => {
  const name = (tenant: string, key: string) => plainName('pawl-{tenant}--', tenant, key);
  expect(name('acme', 'crm/token')).toBe('pawl-acme--crm-token');
  const tenants = ['a', 'a-b', 'a.b', 'A', 'a_b', 'a-2db', 'a-b-c'];
  const keys = ['c', 'b-c', 'b--c', '2db--c', '-c'];
  const owners = new Map<string, string>();
  for (const tenant of tenants) {
    for (const key of keys) {
      const found = name(tenant, key).toLowerCase();
      expect([found, owners.get(found) ?? tenant]).toEqual([found, tenant]);
      owners.set(found, tenant);
    }
  }
});
