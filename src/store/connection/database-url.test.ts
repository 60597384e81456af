import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DatabaseUrlError, readDatabaseUrl } from './database-url.ts';

let folder: string;
let ca: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pawl-url-'));
  ca = join(folder, 'ca.pem');
  writeFileSync(ca, 'a certificate');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const tlsOf = (url: string) => readDatabaseUrl(url).candidates.map(({ tls }) => tls);
const unchecked = expect.objectContaining({ rejectUnauthorized: false });
const checked = expect.objectContaining({ rejectUnauthorized: true });

describe('the sslmode of a database URL', () => {
  it.each([
    ['disable', [false]],
    ['allow', [false, unchecked]],
    ['prefer', [unchecked, false]],
    ['require', [unchecked]],
    ['no-verify', [unchecked]],
    ['verify-full', [checked]],
  ])('sslmode %s means the same as in libpq', (mode, expected) => {
    expect(tlsOf(`postgres://u:p@db.example.com/app?sslmode=${mode}`)).toEqual(expected);
  });

  it('sslmode require with a root certificate, and verify-ca, check the certificate and not the host', () => {
    for (const mode of ['require', 'verify-ca']) {
      const [tls] = tlsOf(`postgres://db.example.com/app?sslmode=${mode}&sslrootcert=${ca}`);
      expect(tls).toMatchObject({ ca: 'a certificate', rejectUnauthorized: true });
      expect(tls).toHaveProperty('checkServerIdentity');
    }
    expect(tlsOf(`postgres://h/app?sslmode=verify-full&sslrootcert=${ca}`)[0]).not.toHaveProperty(
      'checkServerIdentity',
    );
  });

  it('sslmode defaults to prefer, and tries without TLS first on this machine', () => {
    expect(tlsOf('postgres://db.example.com/app')).toEqual([unchecked, false]);
    expect(tlsOf('postgres://127.0.0.1/app')).toEqual([false, unchecked]);
    expect(tlsOf('postgres://u@/app?host=/var/run/postgresql')).toEqual([false]);
  });

  it('a misspelt sslmode, or one without its certificate file, is refused', () => {
    expect(() => tlsOf('postgres://h/app?sslmode=verify')).toThrow('verify-full');
    expect(() => tlsOf('postgres://h/app?sslmode=verify-ca')).toThrow('sslrootcert=');
    expect(() => tlsOf('postgres://u:secret@h/app?sslrootcert=/nowhere/ca.pem')).toThrow(
      /\/nowhere\/ca\.pem.*cannot be read \(ENOENT\)/,
    );
  });
});

describe('the servers of a database URL', () => {
  it('the servers of a URL are tried in order, each with a URL of its own', () => {
    const { candidates, mustWrite } = readDatabaseUrl('postgres://u:p%40@h1:5432,h2:5433/app?sslmode=disable&x=1');
    expect(candidates.map(({ connectionString }) => connectionString)).toEqual([
      'postgres://u:p%40@h1:5432/app?x=1',
      'postgres://u:p%40@h2:5433/app?x=1',
    ]);
    expect(mustWrite).toBe(true);
  });

  it('servers may be given as parameters, as in libpq', () => {
    const url = readDatabaseUrl('postgresql:///app?host=h1,h2&port=5433&target_session_attrs=any&sslmode=disable');
    expect(url.candidates.map(({ connectionString }) => connectionString)).toEqual([
      'postgresql://h1:5433/app',
      'postgresql://h2:5433/app',
    ]);
    expect(url.mustWrite).toBe(false);
    expect(() => readDatabaseUrl('postgres:///app?host=a,b,c&port=1,2')).toThrow('3 hosts and 2 ports');
    expect(() => readDatabaseUrl('postgres://h/app?target_session_attrs=standby')).toThrow('read-write');
  });
});

describe('the options of a database URL', () => {
  it('options are kept, but options that change the schema are refused', () => {
    expect(readDatabaseUrl('postgres://h/app?options=-c%20work_mem%3D64MB').options).toBe('-c work_mem=64MB');
    for (const options of ['-c search_path=other', '-csearch_path=other', '--search-path=other']) {
      const url = `postgres://u:secret@h/app?options=${encodeURIComponent(options)}`;
      expect(() => readDatabaseUrl(url)).toThrow(DatabaseUrlError);
      expect(() => readDatabaseUrl(url)).toThrow(/^(?!.*secret).*database\.schema/);
    }
  });
});
