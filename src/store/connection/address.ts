// The way to a database: the candidate of a URL that answered last, and the next one after a failure. Pools and single
// connections share it, so a failover is found once. All connections to PostgreSQL open here.

import pg from 'pg';
import { type Candidate, type DatabaseUrl, readDatabaseUrl } from './database-url.ts';
import { type Settings, setForSession } from './settings.ts';

/** The server was reached but is read-only, and a writable one is wanted. */
export class ReadOnlyServerError extends Error {
  override readonly name = 'ReadOnlyServerError';
}

export interface ClientOptions {
  readonly applicationName: string;
  /** An address behind a firewall does not answer at all. */
  readonly connectTimeoutMs?: number | undefined;
  readonly queryTimeoutMs?: number | undefined;
  /** Set for the whole session. */
  readonly settings?: Settings | undefined;
}

const CONNECT_TIMEOUT_MS = 10_000;

export class Address {
  private readonly url: DatabaseUrl;
  private current = 0;

  constructor(connectionString: string) {
    this.url = readDatabaseUrl(connectionString);
  }

  /** The number of candidates. */
  get size(): number {
    return this.url.candidates.length;
  }

  candidate(): Candidate {
    return this.url.candidates[this.current]!;
  }

  clientConfig({ connectionString, tls }: Candidate, options: ClientOptions): pg.ClientConfig {
    return {
      connectionString,
      ssl: tls,
      application_name: options.applicationName,
      connectionTimeoutMillis: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      ...(options.queryTimeoutMs === undefined ? {} : { query_timeout: options.queryTimeoutMs }),
      ...(this.url.options === '' ? {} : { options: this.url.options }),
      keepAlive: true,
    };
  }

  /** Whether another try makes sense. If so, the next candidate becomes the current one. */
  failed(candidate: Candidate, error: unknown): boolean {
    const { candidates } = this.url;
    const index = candidates.indexOf(candidate);
    const next = nextCandidate(candidates, index, error);
    if (next === null) return false;
    if (this.current === index) this.current = next;
    return true;
  }

  /** After connecting: checks that it is the wanted server, and applies the session's settings in the same round trip. */
  async greet(client: Pick<pg.ClientBase, 'query'>, settings?: Settings): Promise<void> {
    const { mustWrite } = this.url;
    if (settings === undefined && !mustWrite) return;
    const state = `select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as is_read_only`;
    const greeting = settings === undefined ? state : `${state}; ${setForSession(settings)}`;
    const answers: unknown = await client.query(greeting);
    const [first] = (Array.isArray(answers) ? answers : [answers]) as [{ rows: [{ is_read_only: boolean }] }];
    if (mustWrite && first.rows[0].is_read_only) throw new ReadOnlyServerError('the server takes no writes');
  }

  async connect(options: ClientOptions): Promise<pg.Client> {
    for (let tries = this.size; ; tries--) {
      const candidate = this.candidate();
      const client = new pg.Client(this.clientConfig(candidate, options));
      // Without a listener, a connection that breaks between two statements would end the process.
      client.on('error', () => {});
      try {
        await client.connect();
        await this.greet(client, options.settings);
        return client;
      } catch (error) {
        await client.end().catch(() => undefined);
        if (!this.failed(candidate, error) || tries <= 1) throw error;
      }
    }
  }
}

/** Wrong login or database: other servers of the installation would say the same. */
const SAME_EVERYWHERE = /^(28P01|3D000)$/;

function nextCandidate(candidates: readonly Candidate[], index: number, error: unknown): number | null {
  const { server } = candidates[index]!;
  const other = candidates.findIndex((candidate, at) => candidate.server === server && at !== index);
  // The alternative, with or without TLS, is for a server that refuses this one.
  const isOnlyServer = candidates.at(-1)!.server === 0;
  if (isAboutTls(error) && (other > index || (other !== -1 && isOnlyServer))) return other;
  const isShared = SAME_EVERYWHERE.test(String((error as { code?: unknown }).code));
  if (isShared) return null;
  const following = candidates.findIndex((candidate) => candidate.server === server + 1);
  if (following !== -1) return following;
  return candidates.length > 1 && server > 0 ? 0 : null;
}

/** A server without TLS, a failed handshake, or a line of pg_hba.conf that wants the other. */
function isAboutTls(error: unknown): boolean {
  const { code, message = '' } = error as { code?: unknown; message?: string };
  if (code === '28000') return /no encryption|SSL (off|on|encryption)/.test(message);
  return /SSL|TLS|certificate|wrong version number/i.test(`${String(code)} ${message}`);
}
