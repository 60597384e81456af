// Secret stores: the AWS client against moto's server; HashiCorp Vault, and the clients of Google and Azure, against stand-ins
// that check what the real services check. Each store gives a tenant its own secrets and nobody else's, and tells a missing
// secret from a store that is away.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { moto } from '../../scripts/server/moto.ts';
import { type RunningServer, startListening } from '../../scripts/server/server.ts';
import { awsSecrets } from '../../src/secret/aws/aws-secrets.ts';
import { azureSecrets } from '../../src/secret/azure/azure-secrets.ts';
import { gcpSecrets } from '../../src/secret/gcp/gcp-secrets.ts';
import { plainName } from '../../src/secret/secret.ts';
import { vaultSecrets } from '../../src/secret/vault/vault-secrets.ts';
import { findOpenssl } from '../field/certificates.ts';

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

interface Certificate {
  readonly key: string;
  readonly cert: string;
}

function certificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-certificate-'));
  const selfSigned = 'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=stand-in -addext subjectAltName=IP:127.0.0.1';
  execFileSync('openssl', [...selfSigned.split(' '), '-keyout', 'key', '-out', 'cert'], {
    cwd: folder,
    stdio: 'ignore',
  });
  const [key, cert] = ['key', 'cert'].map((name) => readFileSync(join(folder, name), 'utf8'));
  rmSync(folder, { recursive: true });
  return { key: key!, cert: cert! };
}

interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** A server that answers as a real one would. */
function useStandIn(answer: (request: IncomingMessage, url: URL) => Reply, tls?: Certificate): () => string {
  let url = '';
  const listener: RequestListener = (request, response) => {
    const { status, body, headers } = answer(request, new URL(request.url!, 'http://stand-in'));
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body ?? {}));
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
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

  it('AWS gives the latest version, an older version by its label, and bytes as text', async () => {
    const provider = awsSecrets({ region, endpoint, prefix: 'pawl/{tenant}/' });
    expect(await provider.get({ key: 'crm/token' }, of('acme'))).toBe('second');
    expect(await provider.get({ key: 'crm/token', version: 'AWSPREVIOUS' }, of('acme'))).toBe('first');
    expect(await provider.get({ key: 'binary' }, of('acme'))).toBe('bytes');
    await provider.check!(AbortSignal.timeout(10_000));
  });

  it('AWS gives nothing for another tenant or another name', async () => {
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

  it('Vault gives the latest version and an older one, and nothing deleted or of another tenant', async () => {
    expect(await vault().get({ key: 'crm/token' }, of('acme'))).toBe('second');
    expect(await vault().get({ key: 'crm/token', version: '1' }, of('acme'))).toBe('first');
    expect(await vault().get({ key: 'crm/token', version: '9' }, of('acme'))).toBeUndefined();
    expect(await vault().get({ key: 'gone' }, of('acme'))).toBeUndefined();
    expect(await vault().get({ key: 'crm/token' }, of('other'))).toBeUndefined();
  });

  it('a Vault that refuses the token or is sealed fails the read, and a sealed Vault fails its check', async () => {
    await expect(vault('wrong').get({ key: 'crm/token' }, of('acme'))).rejects.toThrow('403: permission denied');
    await vault().check!(AbortSignal.timeout(5_000));
    state.isSealed = true;
    await expect(vault().get({ key: 'crm/token' }, of('acme'))).rejects.toThrow('503: Vault is sealed');
    await expect(vault().check!(AbortSignal.timeout(5_000))).rejects.toThrow('sealed');
    state.isSealed = false;
  });
});

describe('Google Secret Manager', () => {
  const state = { isAway: false, mayRead: true };
  const kept: Record<string, string[]> = { 'pawl-acme--crm-token': ['first', 'second'] };
  const failure = (code: number, status: string, message: string) => ({
    status: code,
    body: { error: { code, status, message } },
  });
  // Google's library finds its token at the metadata server, as on a Google machine.
  const url = useStandIn((request, { pathname }) => {
    if (pathname.startsWith('/computeMetadata/')) return metadataOf(request, pathname);
    if (state.isAway) return failure(503, 'UNAVAILABLE', 'The service is currently unavailable.');
    if (request.headers.authorization !== 'Bearer ya29.right') return failure(401, 'UNAUTHENTICATED', 'no credentials');
    const [, name, version] = /^\/v1\/projects\/shop\/secrets\/([\w-]+)\/versions\/(\w+):access$/.exec(pathname) ?? [];
    if (request.method !== 'GET' || name === undefined) return failure(400, 'INVALID_ARGUMENT', pathname);
    if (!state.mayRead) return failure(403, 'PERMISSION_DENIED', 'secretmanager.versions.access denied');
    const versions = kept[name] ?? [];
    const value = versions[(version === 'latest' ? versions.length : Number(version)) - 1];
    if (value === undefined) return failure(404, 'NOT_FOUND', `Secret Version [${name}] not found.`);
    return {
      status: 200,
      body: { name: pathname.slice(4, -7), payload: { data: Buffer.from(value).toString('base64') } },
    };
  });
  const metadataOf = (request: IncomingMessage, pathname: string): Reply => {
    const headers = { 'metadata-flavor': 'Google' };
    if (request.headers['metadata-flavor'] !== 'Google') return { status: 403, headers };
    if (!pathname.endsWith('/token')) return { status: 200, headers, body: 'shop' };
    return { status: 200, headers, body: { access_token: 'ya29.right', expires_in: 3_000, token_type: 'Bearer' } };
  };
  const google = () => {
    const { hostname, port } = new URL(url());
    vi.stubEnv('GCE_METADATA_HOST', `${hostname}:${port}`).stubEnv('METADATA_SERVER_DETECTION', 'assume-present');
    const client = { fallback: true, protocol: 'http', apiEndpoint: hostname, port: Number(port) };
    return gcpSecrets({ project: 'shop', prefix: 'pawl-{tenant}--', client });
  };
  afterAll(() => vi.unstubAllEnvs());

  it('Google gives the latest version and an older one, and nothing of another tenant', async () => {
    const provider = google();
    expect(await provider.get({ key: 'crm/token' }, of('acme'))).toBe('second');
    expect(await provider.get({ key: 'crm/token', version: '1' }, of('acme'))).toBe('first');
    expect(await provider.get({ key: 'crm/token', version: '9' }, of('acme'))).toBeUndefined();
    expect(await provider.get({ key: 'crm/token' }, of('other'))).toBeUndefined();
    await provider.close!();
  });

  it('Google refusing access is told apart from a missing secret, and a service that is away fails its check', async () => {
    const provider = google();
    state.mayRead = false;
    await expect(provider.get({ key: 'crm/token' }, of('acme'))).rejects.toThrow(
      'secretmanager.versions.access denied',
    );
    await provider.check!(AbortSignal.timeout(5_000));
    Object.assign(state, { mayRead: true, isAway: true });
    await expect(provider.check!(AbortSignal.timeout(5_000))).rejects.toThrow('unavailable');
    await provider.close!();
  });
});

const hasOpenssl = findOpenssl();
if (!hasOpenssl) console.warn('SKIPPED: Azure Key Vault is not tested, because there is no openssl');

describe.skipIf(!hasOpenssl)('Azure Key Vault', () => {
  const state = { mayRead: true };
  const kept: Record<string, string[]> = { 'pawl-acme--crm-token': ['first', 'second'] };
  const asked: string[] = [];
  const tls = hasOpenssl ? certificate() : { key: '', cert: '' };
  const failure = (status: number, code: string) => ({ status, body: { error: { code, message: `it is ${code}` } } });
  // The identity of an App Service gives the token for the resource that the vault's challenge names.
  const identity = useStandIn((request, { searchParams }) => {
    if (request.headers['x-identity-header'] !== 'proof') return failure(401, 'invalid_identity_header');
    asked.push(searchParams.get('resource')!);
    const expires_on = Math.floor(Date.now() / 1_000) + 3_600;
    return { status: 200, body: { access_token: 'right', expires_on, resource: asked.at(-1), token_type: 'Bearer' } };
  });
  const url = useStandIn((request, { pathname, searchParams }) => {
    if (request.headers.authorization !== 'Bearer right') {
      const challenge = 'Bearer authorization="https://login.example/tenant", resource="https://vault.azure.net"';
      return { ...failure(401, 'Unauthorized'), headers: { 'www-authenticate': challenge } };
    }
    if (!/^(7\.\d|20\d\d-\d\d-\d\d)$/.test(searchParams.get('api-version') ?? '')) return failure(400, 'BadParameter');
    if (!state.mayRead) return failure(403, 'Forbidden');
    const [, name, version] = /^\/secrets\/([0-9a-zA-Z-]+)\/?(\w*)$/.exec(pathname) ?? [];
    const versions = kept[name ?? ''] ?? [];
    const value = versions[(version === '' ? versions.length : Number(version)) - 1];
    if (value === undefined) return failure(404, 'SecretNotFound');
    return { status: 200, body: { value, id: `${url()}/secrets/${name}/${version}`, attributes: { enabled: true } } };
  }, tls);
  const azure = () => {
    vi.stubEnv('IDENTITY_ENDPOINT', `${identity()}/identity`).stubEnv('IDENTITY_HEADER', 'proof');
    return azureSecrets({ vaultUrl: url(), prefix: 'pawl-{tenant}--', standIn: { ca: tls.cert } });
  };
  afterAll(() => vi.unstubAllEnvs());

  it('Azure gives the latest version and an older one, and nothing of another tenant', async () => {
    const provider = azure();
    expect(await provider.get({ key: 'crm/token' }, of('acme'))).toBe('second');
    expect(await provider.get({ key: 'crm/token', version: '1' }, of('acme'))).toBe('first');
    expect(await provider.get({ key: 'crm/token', version: '9' }, of('acme'))).toBeUndefined();
    expect(await provider.get({ key: 'crm/token' }, of('other'))).toBeUndefined();
    expect(asked).toEqual(['https://vault.azure.net']);
  });

  it('Azure refusing access is told apart from a missing secret, and its check still succeeds', async () => {
    const provider = azure();
    state.mayRead = false;
    await expect(provider.get({ key: 'crm/token' }, of('acme'))).rejects.toThrow('it is Forbidden');
    await provider.check!(AbortSignal.timeout(5_000));
    state.mayRead = true;
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
