// Certificates for a PostgreSQL of the tests, made with the openssl program.

import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { databaseAccount } from '../../src/store/embedded/account.ts';

export function findOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** An authority with a certificate for localhost, and another authority that has signed nothing. */
export function makeCertificates(folder: string): void {
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
