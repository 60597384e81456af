import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environmentSecrets } from './environment/environment-secrets.ts';
import { fileSecrets } from './file/file-secrets.ts';
import type { SecretProvider } from './secret.ts';
import { Secrets } from './secrets.ts';

const OF_ACME = { tenantId: 'acme', environmentId: 'prod', principalId: null };
const OPTIONS = { latestTtlMs: 60_000, versionTtlMs: 600_000, timeoutMs: 1_000 };

function counting(get: SecretProvider['get'] = ({ key, version = 'latest' }) => `${key}@${version}`) {
  const asked: string[] = [];
  const provider: SecretProvider = {
    name: 'counted',
    get(ref, context) {
      asked.push(`${context.tenantId}/${context.environmentId}/${ref.key}`);
      return get(ref, context);
    },
  };
  let now = 0;
  const secrets = new Secrets([provider], OPTIONS, () => now);
  return {
    asked,
    secrets,
    later: (ms: number) => {
      now += ms;
    },
  };
}

describe('a secret', () => {
  it('a secret is fetched once, until it expires', async () => {
    const { asked, secrets, later } = counting();
    const latest = { provider: 'counted', key: 'a' };
    const named = { provider: 'counted', key: 'a', version: '2' };
    expect(await Promise.all([secrets.get(latest, OF_ACME), secrets.get(latest, OF_ACME)])).toEqual([
      'a@latest',
      'a@latest',
    ]);
    expect(secrets.get(latest, OF_ACME)).toBe('a@latest');
    await secrets.get(named, OF_ACME);
    later(OPTIONS.latestTtlMs + 1);
    await secrets.get(latest, OF_ACME);
    expect(secrets.get(named, OF_ACME)).toBe('a@2');
    expect(asked).toHaveLength(3);
  });

  it('a secret is cached separately for each tenant and environment', async () => {
    const { secrets } = counting((_, { tenantId, environmentId }) => `${tenantId} ${environmentId}`);
    const ref = { provider: 'counted', key: 'a' };
    expect(await secrets.get(ref, OF_ACME)).toBe('acme prod');
    expect(await secrets.get(ref, { ...OF_ACME, tenantId: 'globex' })).toBe('globex prod');
    expect(await secrets.get(ref, { ...OF_ACME, environmentId: 'dev' })).toBe('acme dev');
  });

  it('a secret that is missing, empty or has no provider fails for good, with its name', async () => {
    const { secrets } = counting(({ key }) => (key === 'empty' ? '' : undefined));
    const failure = async (provider: string, key: string) => {
      try {
        return await secrets.get({ provider, key }, OF_ACME);
      } catch (error) {
        return error;
      }
    };
    expect(await failure('counted', 'none')).toMatchObject({
      code: 'SECRET_NOT_FOUND',
      message: expect.stringContaining('"counted:none"'),
    });
    expect(await failure('counted', 'empty')).toMatchObject({ code: 'SECRET_NOT_FOUND' });
    expect(await failure('counted', '../etc')).toMatchObject({ code: 'SECRET_NOT_FOUND' });
    expect(await failure('nobody', 'a')).toMatchObject({
      code: 'SECRET_NOT_FOUND',
      message: expect.stringContaining('there are counted'),
    });
  });

  it('a secret is fetched again after its provider was away', async () => {
    let away = true;
    const { secrets } = counting(async () => {
      if (away) throw new Error('connect ECONNREFUSED');
      return 'value';
    });
    const ref = { provider: 'counted', key: 'a' };
    const failed = await Promise.resolve(secrets.get(ref, OF_ACME)).catch((error: unknown) => error);
    expect(failed).toMatchObject({ name: 'RetryableError', code: 'SECRETS_UNAVAILABLE' });
    away = false;
    expect(await secrets.get(ref, OF_ACME)).toBe('value');
  });
});

describe('secrets of the environment', () => {
  const variables = { SECRET_TOKEN: 'd', SECRET_acme__TOKEN: 'a', DATABASE_URL: 'postgres://…' };
  const get = (tenantId: string, key: string) =>
    environmentSecrets(variables, 'default').get({ key }, { ...OF_ACME, tenantId });

  it('the environment has the secrets of each tenant and nothing else', () => {
    expect([get('default', 'TOKEN'), get('acme', 'TOKEN')]).toEqual(['d', 'a']);
    expect([get('default', 'acme__TOKEN'), get('globex', 'TOKEN'), get('default', 'DATABASE_URL')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('secrets in a folder', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'pawl-secrets-'));
    mkdirSync(join(folder, 'mounted', 'acme'), { recursive: true });
    writeFileSync(join(folder, 'mounted', 'acme', 'token'), 'value\n');
    writeFileSync(join(folder, 'outside'), 'not yours');
    symlinkSync(join(folder, 'outside'), join(folder, 'mounted', 'acme', 'link'));
    symlinkSync(join(folder, 'mounted', 'acme', 'token'), join(folder, 'mounted', 'acme', 'inner'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('a folder has the secrets of each tenant, and follows no link out of it', async () => {
    const secrets = fileSecrets(join(folder, 'mounted'));
    const get = async (key: string, tenantId = 'acme') => secrets.get({ key }, { ...OF_ACME, tenantId });
    expect([await get('token'), await get('inner')]).toEqual(['value', 'value']);
    expect([await get('link'), await get('none'), await get('token', 'globex'), await get('../../outside')]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
