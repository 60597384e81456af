// Reads a connection URL as libpq does: several hosts, `sslmode` and its files, `target_session_attrs`, `options`. The driver
// reads the rest. The result is a list of candidates: servers, each with or without TLS, in order of preference.

import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';

/** Its message is for the author of the URL and never shows the URL, which contains a password (S6). */
export class DatabaseUrlError extends Error {
  override readonly name = 'DatabaseUrlError';
}

export interface Candidate {
  /** The URL with this server alone, without parameters that the driver reads differently from libpq. */
  readonly connectionString: string;
  readonly server: number;
  readonly tls: ConnectionOptions | false;
}

export interface DatabaseUrl {
  readonly candidates: readonly Candidate[];
  readonly servers: number;
  /** Only a writable server will do. */
  readonly mustWrite: boolean;
  /** The startup `options` of the URL; '' when there are none. */
  readonly options: string;
}

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'] as const;
type SslMode = (typeof SSL_MODES)[number];

const SESSION_ATTRIBUTES = ['any', 'read-write', 'primary'];

/** Parameters that the driver reads differently from libpq, or not at all. */
const READ_HERE = [
  ...['sslmode', 'ssl', 'sslrootcert', 'sslcert', 'sslkey', 'uselibpqcompat'],
  ...['target_session_attrs', 'options', 'host', 'port'],
];

const LOCAL = /^(localhost|127\.|\[?::1\]?$|$)/;

export function readDatabaseUrl(connectionString: string): DatabaseUrl {
  const split = /^(postgres(?:ql)?:\/\/)(?:([^@/?#]*)@)?([^/?#]*)([^?#]*)(?:\?([^#]*))?$/.exec(connectionString);
  // The path of a socket: the driver's own form, without parameters.
  if (split === null) return only({ connectionString, server: 0, tls: false });
  const [, scheme = '', login, authority = '', path = '', query = ''] = split;
  const given = new URLSearchParams(query);
  const passedOn = new URLSearchParams([...given].filter(([name]) => !READ_HERE.includes(name)));
  const servers = serversOf(authority, given);
  const candidates = servers.flatMap(({ host, port }, server) => {
    const isSocket = host.startsWith('/');
    const parameters = new URLSearchParams(passedOn);
    if (isSocket) parameters.set('host', host);
    if (isSocket && port !== '') parameters.set('port', port);
    const place = isSocket ? '' : `${host}${port === '' ? '' : `:${port}`}`;
    const search = parameters.size === 0 ? '' : `?${parameters}`;
    const url = `${scheme}${login === undefined ? '' : `${login}@`}${place}${path}${search}`;
    const choices = isSocket ? [false as const] : tlsChoices(given, host);
    return choices.map((tls): Candidate => ({ connectionString: url, server, tls }));
  });
  return {
    candidates,
    servers: servers.length,
    mustWrite: mustWrite(given, servers.length),
    options: checkedOptions(given.get('options') ?? ''),
  };
}

const only = (candidate: Candidate): DatabaseUrl => ({
  candidates: [candidate],
  servers: 1,
  mustWrite: false,
  options: '',
});

interface Server {
  readonly host: string;
  readonly port: string;
}

/** `h1:5432,h2:5433` in the authority, or `host=h1,h2&port=5432,5433`; a single port applies to all hosts. */
function serversOf(authority: string, given: URLSearchParams): Server[] {
  const places = authority.split(',').map((place) => {
    const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(place) ?? [undefined, place, ''];
    return { host: decodeURIComponent(host), port };
  });
  const hosts = given.get('host')?.split(',') ?? places.map(({ host }) => host);
  const ports = given.get('port')?.split(',') ?? places.map(({ port }) => port);
  if (ports.length > 1 && ports.length !== hosts.length) {
    throw new DatabaseUrlError(
      `DATABASE_URL names ${hosts.length} hosts and ${ports.length} ports. Give one port for all, or one for each host.`,
    );
  }
  return hosts.map((host, index) => ({ host, port: (ports.length === 1 ? ports[0] : ports[index]) ?? '' }));
}

/** The engine writes, so of several servers it wants the writable one by default. */
function mustWrite(given: URLSearchParams, servers: number): boolean {
  const wanted = given.get('target_session_attrs') ?? (servers > 1 ? 'read-write' : 'any');
  if (!SESSION_ATTRIBUTES.includes(wanted)) {
    throw new DatabaseUrlError(
      `target_session_attrs=${wanted} in DATABASE_URL does not work: Pawl writes to its database. Use read-write, primary or any.`,
    );
  }
  return wanted !== 'any';
}

/** Our own options come after these. A search_path here would lead to the tables of another installation. */
function checkedOptions(options: string): string {
  if (/(^|\s)(-c\s*|--)search[_-]path\s*=/i.test(options)) {
    throw new DatabaseUrlError(
      'the options in DATABASE_URL set search_path, which would lead Pawl to other tables. Take it out, and use database.schema (PAWL_DATABASE_SCHEMA) instead.',
    );
  }
  return options;
}

function tlsChoices(given: URLSearchParams, host: string): (ConnectionOptions | false)[] {
  const { ca, cert, key } = tlsFiles(given);
  const own = { ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }) };
  const unchecked = { ...own, rejectUnauthorized: false };
  const full = { ...own, ...(ca === undefined ? {} : { ca }), rejectUnauthorized: true };
  const authorityOnly = { ...full, checkServerIdentity: () => undefined };
  switch (sslModeOf(given, host)) {
    case 'disable':
      return [false];
    case 'allow':
      return [false, unchecked];
    case 'prefer':
      return [unchecked, false];
    case 'no-verify':
      return [unchecked];
    case 'require':
      return [ca === undefined ? unchecked : authorityOnly];
    case 'verify-ca':
      if (ca === undefined) {
        throw new DatabaseUrlError(
          'sslmode=verify-ca in DATABASE_URL needs the certificate of the authority. Add sslrootcert=/path/to/ca.pem, or use verify-full, which also accepts what public authorities have signed.',
        );
      }
      return [authorityOnly];
    case 'verify-full':
      return [full];
  }
}

/**
 * libpq's default is `prefer`. On this machine we start without TLS: nobody can listen, and Debian's PostgreSQL has TLS
 * switched on, which would slow down every statement.
 */
function sslModeOf(given: URLSearchParams, host: string): SslMode {
  const mode = given.get('sslmode');
  const ssl = given.get('ssl');
  if (mode === null) {
    if (given.has('sslrootcert') || ssl === 'true' || ssl === '1') return 'verify-full';
    if (ssl === 'false' || ssl === '0') return 'disable';
    return LOCAL.test(host) ? 'allow' : 'prefer';
  }
  const known = SSL_MODES.find((name) => name === mode);
  if (known === undefined) {
    throw new DatabaseUrlError(`there is no sslmode ${mode}. DATABASE_URL may say ${SSL_MODES.join(', ')}.`);
  }
  return given.get('sslrootcert') === 'system' && known !== 'disable' ? 'verify-full' : known;
}

function tlsFiles(given: URLSearchParams): { ca?: string; cert?: string; key?: string } {
  const files: { ca?: string; cert?: string; key?: string } = {};
  for (const [parameter, name] of [
    ['sslrootcert', 'ca'],
    ['sslcert', 'cert'],
    ['sslkey', 'key'],
  ] as const) {
    const path = given.get(parameter);
    if (path === null || path === '' || path === 'system') continue;
    try {
      files[name] = readFileSync(path, 'utf8');
    } catch (error) {
      const { code = 'unreadable' } = error as NodeJS.ErrnoException;
      throw new DatabaseUrlError(
        `${parameter} in DATABASE_URL names ${path}, which cannot be read (${code}). Correct the path, or let this user read the file.`,
      );
    }
  }
  return files;
}
