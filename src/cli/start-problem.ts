// Why Pawl could not be opened here, in a sentence with the next step. Whatever the person who started it can change is a
// wrong usage (exit code 2); the rest is thrown on as it is.

import { resolveConfig } from '../config.ts';
import { serverOf } from './dev-address.ts';
import { UsageError } from './exit.ts';

/** Their own message is the sentence. */
const SAY_IT_THEMSELVES = new Set([
  'PortTakenError',
  'FolderInUseError',
  'FolderUnusableError',
  'AuthConfigError',
  'ConfigError',
  'UserActionError',
]);

/** Runs what opens a database, and explains why it cannot. `folder`: of a server, where another may be answering. */
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

/** null: it has nothing to do with the connection. */
export async function explainDatabase(error: unknown): Promise<string | null> {
  const { url } = resolveConfig().database;
  if (url === undefined) return null;
  const { connectionProblem } = await import('../main.ts');
  const problem = connectionProblem(error);
  if (problem === null) return null;
  if (!/^(postgres(ql)?:\/\/|\/|socket:)/.test(url)) {
    return 'DATABASE_URL is not a URL such as postgres://user:password@host:5432/database. Correct it, or unset it to use the embedded database.';
  }
  return explanationOf(problem, parts(url));
}

interface Target {
  readonly host: string;
  readonly user: string;
  readonly database: string;
}

/** What may be shown of a URL: never its password (S6). */
function parts(url: string): Target {
  if (!URL.canParse(url)) return { host: 'the host', user: 'the user', database: 'the database' };
  const { host, username, pathname } = new URL(url);
  return {
    host: host || 'the local socket',
    user: decodeURIComponent(username) || 'your user',
    database: decodeURIComponent(pathname.slice(1)) || decodeURIComponent(username),
  };
}

type Problem = NonNullable<ReturnType<typeof import('../main.ts')['connectionProblem']>>;

const DOCTOR = '`pawl doctor` looks again.';

function explanationOf(problem: Problem, { host, user, database }: Target): string {
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
      return `${user} may not do what Pawl needs in the database "${database}" at ${host}. As its owner: GRANT CREATE, CONNECT ON DATABASE "${database}" TO "${user}"; and, for the schema: GRANT ALL ON SCHEMA public TO "${user}";`;
    case 'tooMany':
      return `PostgreSQL at ${host} has no connection left. Raise its max_connections, or lower PAWL_DATABASE_ENGINE_CONNECTIONS.`;
    case 'notReady':
      return `PostgreSQL at ${host} is starting or stopping. Try again in a moment.`;
    case 'pooler':
      return `what answers at ${host} is a transaction pooler (PgBouncer), which refuses the settings that Pawl connects with. Give Pawl a direct connection to PostgreSQL.`;
    case 'tls':
      return `no encrypted connection to ${host}: the server has no TLS, or a certificate that is not trusted. Add ?sslmode=disable or ?sslmode=no-verify to DATABASE_URL, or correct its certificate.`;
    case 'notPostgres':
      return `what answers at ${host} is not PostgreSQL, or it hung up. Correct the host and port in DATABASE_URL. ${DOCTOR}`;
  }
}
