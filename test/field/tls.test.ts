// TLS to a real PostgreSQL, with an authority made for the test: each sslmode means the same as in libpq, and each error names
// its cause. The certificates are made with the openssl program; without it these tests are skipped.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionProblem } from '../../src/main.ts';
import { Address } from '../../src/store/connection/address.ts';
import { type EmbeddedPostgres, startEmbedded } from '../../src/store/embedded/embedded.ts';
import { pawl } from '../cli/dev-process.ts';
import { withClient } from '../support/client.ts';
import { findOpenssl, makeCertificates } from './certificates.ts';

const hasOpenssl = findOpenssl();
if (!hasOpenssl) console.warn('SKIPPED: the tests of TLS. To run them: apt-get install openssl');

describe.runIf(hasOpenssl)('a PostgreSQL with TLS', () => {
  let folder: string;
  let server: EmbeddedPostgres;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pawl-tls-'));
    chmodSync(folder, 0o755);
    makeCertificates(folder);
    // Every role can connect as usual, except one role that needs TLS.
    const hba = [
      'hostssl all demanding all trust',
      'hostnossl all demanding all reject',
      'host all all all scram-sha-256',
    ];
    writeFileSync(join(folder, 'hba.conf'), `${hba.join('\n')}\n`);
    server = await startEmbedded({
      dataDir: join(folder, 'data'),
      settings: {
        ssl: 'on',
        ssl_cert_file: join(folder, 'server.crt'),
        ssl_key_file: join(folder, 'server.key'),
        hba_file: join(folder, 'hba.conf'),
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
  /** Whether the connection is encrypted, or why it fails. */
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

  it('each sslmode connects as libpq would', async () => {
    expect(await connecting({ sslmode: 'disable' })).toBe(false);
    expect(await connecting({ sslmode: 'allow' })).toBe(false);
    expect(await connecting({ sslmode: 'prefer' })).toBe(true);
    // The connection is encrypted, and nothing is checked.
    expect(await connecting({ sslmode: 'require' })).toBe(true);
    expect(await connecting({ sslmode: 'require', sslrootcert: foreign() })).toBe('untrusted');
    expect(await connecting({ sslmode: 'verify-ca', sslrootcert: own() })).toBe(true);
    expect(await connecting({ sslmode: 'verify-ca', sslrootcert: foreign() })).toBe('untrusted');
    expect(await connecting({ sslmode: 'verify-full', sslrootcert: own() }, 'localhost')).toBe(true);
    // The certificate names localhost, not the IP address.
    expect(await connecting({ sslmode: 'verify-full', sslrootcert: own() })).toBe('otherHost');
    expect(await connecting({ sslmode: 'verify-full' }, 'localhost')).toBe('untrusted');
  });

  it('the error for an untrusted server names sslrootcert as the first advice', async () => {
    const untrusted = await pawl({ DATABASE_URL: url({ sslmode: 'verify-full' }, 'localhost') }, 'migrate', 'status');
    expect(untrusted.code).toBe(2);
    expect(untrusted.stderr).toMatch(/not signed by an authority that is trusted here .*\. Add sslrootcert=/);
    const missing = url({ sslmode: 'verify-full', sslrootcert: join(folder, 'nowhere.crt') });
    const unread = await pawl({ DATABASE_URL: missing }, 'migrate', 'status');
    expect(unread.stderr).toMatch(/sslrootcert .*nowhere\.crt, which cannot be read/);
  });

  it('the error for a certificate of another host names that host', async () => {
    const wrongHost = url({ sslmode: 'verify-full', sslrootcert: own() });
    const { code, stderr } = await pawl({ DATABASE_URL: wrongHost }, 'migrate', 'status');
    expect(code).toBe(2);
    expect(stderr).toMatch(/is for another host \(it names DNS:localhost\)\. Use the host that it names/);
  });

  it('the error for a role that needs TLS says so when the connection has none', async () => {
    await withClient(server.connectionString, (client) => client.query('create role demanding login'));
    const target = new URL(url({ sslmode: 'disable' }));
    target.username = 'demanding';
    target.password = '';
    const { code, stderr } = await pawl({ DATABASE_URL: target.href }, 'migrate', 'status');
    expect(code).toBe(2);
    expect(stderr).toMatch(/takes only encrypted connections from here .*Add \?sslmode=verify-full&sslrootcert=/);
  });
});

it('a server without TLS is used without TLS by prefer, and refused by require', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-plain-'));
  chmodSync(folder, 0o755);
  const settings = { ssl: 'off', max_connections: '20', unix_socket_directories: '' };
  const server = await startEmbedded({ dataDir: folder, settings });
  try {
    const connect = (mode: string) =>
      new Address(`${server.connectionString}?sslmode=${mode}`).connect({ applicationName: 'pawl test' });
    await (await connect('prefer')).end();
    expect(connectionProblem(await connect('require').catch((error: unknown) => error))).toBe('noTls');
    // The server is also a small one: three of its connections are kept for superusers.
    const doctor = await pawl({ DATABASE_URL: server.connectionString }, 'doctor', '--port', '0');
    expect(doctor.stdout).toMatch(/✗ connections +17 of 20 can be used/);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
