// TLS to a real PostgreSQL, with an authority made for the test: each sslmode means what it means to libpq, and what is wrong is said
// with its cause. The certificates are made with the openssl program; without it these tests are skipped.

import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionProblem } from '../../src/main.ts';
import { Address } from '../../src/store/connection/address.ts';
import { databaseAccount } from '../../src/store/embedded/account.ts';
import { type EmbeddedPostgres, startEmbedded } from '../../src/store/embedded/embedded.ts';
import { pawl } from '../cli/dev-process.ts';

const hasOpenssl = (() => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();
if (!hasOpenssl) console.warn('SKIPPED: the tests of TLS. To run them: apt-get install openssl');

describe.runIf(hasOpenssl)('a PostgreSQL with TLS', () => {
  let folder: string;
  let server: EmbeddedPostgres;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pawl-tls-'));
    chmodSync(folder, 0o755);
    makeCertificates(folder);
    server = await startEmbedded({
      dataDir: join(folder, 'data'),
      settings: {
        ssl: 'on',
        ssl_cert_file: join(folder, 'server.crt'),
        ssl_key_file: join(folder, 'server.key'),
        unix_socket_directories: '',
      },
    });
  }, 60_000);
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const url = (parameters: Record<string, string>, host = '127.0.0.1') => {
    const target = new URL(server.connectionString);
    target.hostname = host;
    for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value);
    return target.href;
  };
  /** Whether it is encrypted, or why it cannot connect. */
  const connecting = async (parameters: Record<string, string>, host?: string) => {
    try {
      const client = await new Address(url(parameters, host)).connect({ applicationName: 'pawl test' });
      const { rows } = await client.query<{ ssl: boolean }>('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
      await client.end();
      return rows[0]!.ssl;
    } catch (error) {
      return connectionProblem(error);
    }
  };
  const own = () => join(folder, 'ca.crt');
  const foreign = () => join(folder, 'foreign.crt');

  it('is reached by each sslmode as libpq would reach it', async () => {
    expect(await connecting({ sslmode: 'disable' })).toBe(false);
    expect(await connecting({ sslmode: 'allow' })).toBe(false);
    expect(await connecting({ sslmode: 'prefer' })).toBe(true);
    // Encrypted, and nothing is checked.
    expect(await connecting({ sslmode: 'require' })).toBe(true);
    expect(await connecting({ sslmode: 'require', sslrootcert: foreign() })).toBe('untrusted');
    expect(await connecting({ sslmode: 'verify-ca', sslrootcert: own() })).toBe(true);
    expect(await connecting({ sslmode: 'verify-ca', sslrootcert: foreign() })).toBe('untrusted');
    expect(await connecting({ sslmode: 'verify-full', sslrootcert: own() }, 'localhost')).toBe(true);
    // The certificate names localhost, and not the address.
    expect(await connecting({ sslmode: 'verify-full', sslrootcert: own() })).toBe('otherHost');
    expect(await connecting({ sslmode: 'verify-full' }, 'localhost')).toBe('untrusted');
  });

  it('that cannot be trusted is explained, with sslrootcert as the first advice', async () => {
    const untrusted = await pawl({ DATABASE_URL: url({ sslmode: 'verify-full' }, 'localhost') }, 'migrate', 'status');
    expect(untrusted.code).toBe(2);
    expect(untrusted.stderr).toMatch(/not signed by an authority that is trusted here .*\. Add sslrootcert=/);
    const missing = url({ sslmode: 'verify-full', sslrootcert: join(folder, 'nowhere.crt') });
    const unread = await pawl({ DATABASE_URL: missing }, 'migrate', 'status');
    expect(unread.stderr).toMatch(/sslrootcert .*nowhere\.crt, which cannot be read/);
  });
});

it('a server without TLS is used without it by prefer, and refused by require', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-plain-'));
  chmodSync(folder, 0o755);
  const server = await startEmbedded({ dataDir: folder, settings: { ssl: 'off', unix_socket_directories: '' } });
  try {
    const connect = (mode: string) =>
      new Address(`${server.connectionString}?sslmode=${mode}`).connect({ applicationName: 'pawl test' });
    await (await connect('prefer')).end();
    expect(connectionProblem(await connect('require').catch((error: unknown) => error))).toBe('noTls');
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** An authority with a certificate for localhost, and one that has signed nothing. */
function makeCertificates(folder: string): void {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const selfSigned = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  for (const name of ['ca', 'foreign']) {
    openssl(...selfSigned, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.crt`);
  }
  openssl(
    'req',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-subj',
    '/CN=localhost',
    '-keyout',
    'server.key',
    '-out',
    'server.csr',
  );
  writeFileSync(join(folder, 'names'), 'subjectAltName=DNS:localhost\n');
  const signing = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names'];
  openssl('x509', '-req', '-in', 'server.csr', ...signing, '-out', 'server.crt');
  chmodSync(join(folder, 'server.key'), 0o600);
  const account = databaseAccount();
  if (account !== null) chownSync(join(folder, 'server.key'), account.uid, account.gid);
}
