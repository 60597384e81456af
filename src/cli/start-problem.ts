// Explains in a sentence, with the next step, why Pawl could not be opened. Causes that the caller can change count as wrong
// usage (exit code 2); other errors are rethrown.

import { resolveConfig } from '../config/config.ts';
import { serverOf } from './dev-address.ts';
import { UsageError } from './exit.ts';

/** Errors whose own message is good enough. */
const SAY_IT_THEMSELVES = new Set([
  'PortTakenError',
  'FolderInUseError',
  'FolderUnusableError',
  'AuthConfigError',
  'ConfigError',
  'UserActionError',
  'DatabaseUrlError',
  'TransactionPoolerError',
  'SessionSettingsError',
  'EngineUnavailableError',
]);

/**
 * Runs work that opens a database, and explains a failure. `folder`: the server's folder, in which another server may be
 * running.
 */
export async function explained<Result>(work: () => Promise<Result>, folder?: () => string): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof UsageError) throw error;
    const url = error.name === 'FolderInUseError' && folder !== undefined ? await serverOf(folder()) : null;
    if (url !== null) {
      throw new UsageError(
        `Pawl is running already, at ${url}. Use that one, stop it, or choose another --data folder.`,
      );
    }
    if (SAY_IT_THEMSELVES.has(error.name)) throw new UsageError(error.message);
    const explanation = await explainDatabase(error);
    throw explanation === null ? error : new UsageError(explanation);
  }
}

/** null: not a connection problem. */
export async function explainDatabase(error: unknown): Promise<string | null> {
  const { url, schema } = resolveConfig().database;
  if (url === undefined) return null;
  const { connectionProblem, TOO_MANY_ADVICE } = await import('../main.ts');
  const problem = connectionProblem(error);
  if (problem === null) return null;
  if (!/^(postgres(ql)?:\/\/|\/|socket:)/.test(url)) {
    return 'DATABASE_URL is not a URL such as postgres://user:password@host:5432/database. Correct it, or unset it to use the embedded database.';
  }
  return explanationOf(problem, { ...parts(url), schema, reason: reasonOf(error), tooManyAdvice: TOO_MANY_ADVICE });
}

/** The server's or driver's own words. For a certificate of another host they omit that host's name. */
function reasonOf(error: unknown): string {
  const { cause } = error as Error;
  const { message, cert } = (cause instanceof Error ? cause : error) as Error & { cert?: { subjectaltname?: string } };
  return cert?.subjectaltname === undefined ? message : `it names ${cert.subjectaltname}`;
}

interface Target {
  readonly host: string;
  readonly user: string;
  readonly database: string;
}

interface Setting extends Target {
  readonly schema: string;
  readonly reason: string;
  readonly tooManyAdvice: string;
}

/** A URL without its password, fit to be shown (S6). */
function parts(url: string): Target {
  const [, several] = /^postgres(?:ql)?:\/\/(?:[^@/?]*@)?([^/?]*,[^/?]*)/.exec(url) ?? [];
  const single = several === undefined ? url : url.replace(several, several.split(',')[0]!);
  if (!URL.canParse(single)) return { host: 'the host', user: 'the user', database: 'the database' };
  const { host, username, pathname } = new URL(single);
  return {
    host: several ?? (host || 'the local socket'),
    user: decodeURIComponent(username) || 'your user',
    database: decodeURIComponent(pathname.slice(1)) || decodeURIComponent(username),
  };
}

type Problem = NonNullable<ReturnType<typeof import('../main.ts')['connectionProblem']>>;

const DOCTOR = '`pawl doctor` looks again.';

function explanationOf(problem: Problem, setting: Setting): string {
  const { host, user, database, schema, reason } = setting;
  switch (problem) {
    case 'refused':
      return `no PostgreSQL answers at ${host}, which DATABASE_URL names. Start it, correct the host and port, or unset DATABASE_URL to use the embedded database. ${DOCTOR}`;
    case 'unknownHost':
      return `there is no host ${host}, which DATABASE_URL names. Correct it, or unset DATABASE_URL to use the embedded database.`;
    case 'timeout':
      return `${host}, which DATABASE_URL names, does not answer: a firewall, a VPN, or the wrong address. ${DOCTOR}`;
    case 'login':
      return `PostgreSQL at ${host} does not let ${user} in: the user, its password or pg_hba.conf. Correct DATABASE_URL (special characters in a password must be percent-encoded). ${DOCTOR}`;
    case 'noDatabase':
      return `PostgreSQL at ${host} has no database "${database}". Create it (createdb ${database}), or correct DATABASE_URL.`;
    case 'notAllowed':
      return `${user} may not do what Pawl needs in the schema "${schema}" of the database "${database}" at ${host} (${reason}). As its owner: GRANT USAGE, CREATE ON SCHEMA "${schema}" TO "${user}"; or run \`pawl migrate up\` once as a role that may, and grant ${user} the rights on the tables (docs/deployment.md, "Restricted roles").`;
    case 'tooMany':
      return `PostgreSQL at ${host} has no connection left. ${setting.tooManyAdvice}`;
    case 'notReady':
      return `PostgreSQL at ${host} is starting or stopping. Try again in a moment.`;
    case 'readOnly':
      return `no server at ${host} takes writes: they are standbys, or read-only. Add the primary to DATABASE_URL, or wait until one is promoted. ${DOCTOR}`;
    case 'pooler':
      return `what answers at ${host} is a pooler (PgBouncer) that refuses the parameters in DATABASE_URL (${reason}). Take them out of the URL, or name them in the pooler's ignore_startup_parameters.`;
    case 'noTls':
      return `PostgreSQL at ${host} has no TLS, and DATABASE_URL asks for it. Switch it on there (ssl = on), or add ?sslmode=disable if the network is your own.`;
    case 'tlsDemanded':
      return `PostgreSQL at ${host} takes only encrypted connections from here (pg_hba.conf). Add ?sslmode=verify-full&sslrootcert=/path/to/ca.pem to DATABASE_URL, or ?sslmode=require, which encrypts and checks nothing.`;
    case 'untrusted':
      return `the certificate of PostgreSQL at ${host} was not signed by an authority that is trusted here (${reason}). Add sslrootcert=/path/to/ca.pem to DATABASE_URL, with the authority of your database. ?sslmode=require encrypts and checks nothing.`;
    case 'otherHost':
      return `the certificate of PostgreSQL at ${host} is for another host (${reason}). Use the host that it names, or ?sslmode=verify-ca with sslrootcert=/path/to/ca.pem, which checks only the authority.`;
    case 'expired':
      return `the certificate of PostgreSQL at ${host} is not valid now (${reason}). Renew it, or correct the clock of this machine.`;
    case 'tls':
      return `no encrypted connection to ${host}: ${reason}. Check sslrootcert and sslmode in DATABASE_URL. ${DOCTOR}`;
    case 'notPostgres':
      return `what answers at ${host} is not PostgreSQL, or it hung up. Correct the host and port in DATABASE_URL. ${DOCTOR}`;
  }
}
