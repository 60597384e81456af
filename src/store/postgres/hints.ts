// Hints over LISTEN and NOTIFY: one connection that listens, and a coalesced NOTIFY in a statement of its own. At start it
// sends itself a note: transaction poolers accept LISTEN and deliver nothing, and that must be known, not guessed.

import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Hint, Hints } from '../hint-port.ts';

const CHANNEL = 'pawl_hint';
const COALESCE_MS = 10;
const RECONNECT_MS = 1_000;
const SELF_TEST_MS = 2_000;
/** NOTIFY carries at most 8,000 bytes. */
const MAX_IDS = 150;

interface Note {
  readonly work?: true;
  readonly mail?: readonly string[];
  readonly test?: string;
}

interface HintOptions {
  readonly connectionString: string;
  readonly receive: (hint: Hint) => void;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
}

/** Never fails: without a connection there are no hints, and polling finds the work. */
export async function openHints(options: HintOptions): Promise<Hints> {
  const hints = new PostgresHints(options);
  await hints.open();
  return hints;
}

class PostgresHints implements Hints {
  delivering = false;
  private readonly options: HintOptions;
  private client: pg.Client | null = null;
  private sending: Promise<unknown> = Promise.resolve();
  private work = false;
  private mail = new Set<string>();
  private flushTimer: NodeJS.Timeout | null = null;
  private reconnectTimer: NodeJS.Timeout | null = null;
  private closed = false;
  private testArrived: ((id: string) => void) | null = null;

  constructor(options: HintOptions) {
    this.options = options;
  }

  async open(): Promise<void> {
    const client = new pg.Client({ connectionString: this.options.connectionString, application_name: 'pawl hints' });
    const ended = new Promise<never>((_, reject) =>
      client.once('end', () => reject(new Error('the connection ended'))),
    );
    ended.catch(() => this.lost(client));
    client.on('error', () => {});
    client.on('notification', ({ payload }) => this.received(payload ?? ''));
    this.client = client;
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
      this.delivering = await Promise.race([this.selfTest(client), ended]);
    } catch (error) {
      this.options.warn('no connection for hints; work is found by polling until there is one', {
        error: String(error),
      });
      await client.end().catch(() => undefined);
      return this.lost(client);
    }
    if (!this.delivering) {
      this.options.warn('notifications do not arrive; work is found by polling only', {
        advice: 'give the engine a direct connection to PostgreSQL, not a transaction pooler',
      });
    }
  }

  send(hint: Hint): void {
    if (hint.kind === 'work') this.work = true;
    else this.mail.add(hint.executionId);
    this.flushTimer ??= setTimeout(() => this.flush(), COALESCE_MS);
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.flushTimer !== null) clearTimeout(this.flushTimer);
    if (this.reconnectTimer !== null) clearTimeout(this.reconnectTimer);
    await this.client?.end().catch(() => undefined);
  }

  private flush(): void {
    this.flushTimer = null;
    const ids = [...this.mail];
    const work = this.work;
    this.mail.clear();
    this.work = false;
    for (let from = 0; from < Math.max(1, ids.length); from += MAX_IDS) {
      this.notify({ ...(work ? { work } : {}), mail: ids.slice(from, from + MAX_IDS) });
    }
  }

  private notify(note: Note): void {
    const { client } = this;
    this.sending = this.sending
      .then(() => client?.query('select pg_notify($1, $2)', [CHANNEL, JSON.stringify(note)]))
      .catch(() => undefined);
  }

  private received(payload: string): void {
    const note = parseNote(payload);
    if (note.test !== undefined) this.testArrived?.(note.test);
    if (note.work) this.options.receive({ kind: 'work' });
    for (const executionId of note.mail ?? []) this.options.receive({ kind: 'mail', executionId });
  }

  private async selfTest(client: pg.Client): Promise<boolean> {
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const giveUp = setTimeout(() => resolve(false), SELF_TEST_MS);
    this.testArrived = (arrived) => {
      if (arrived === id) resolve(true);
    };
    try {
      await client.query('select pg_notify($1, $2)', [CHANNEL, JSON.stringify({ test: id } satisfies Note)]);
      return await promise;
    } finally {
      clearTimeout(giveUp);
      this.testArrived = null;
    }
  }

  /** Once per connection, however it is lost, and one try to come back at a time. */
  private lost(client: pg.Client): void {
    if (this.client !== client) return;
    this.client = null;
    this.delivering = false;
    if (this.closed) return;
    this.reconnectTimer = setTimeout(() => void this.open(), RECONNECT_MS);
    this.reconnectTimer.unref();
  }
}

/** Anybody may notify on our channel: what is not a note of ours means nothing. */
function parseNote(payload: string): Note {
  try {
    const note: unknown = JSON.parse(payload);
    return typeof note === 'object' && note !== null ? (note as Note) : {};
  } catch {
    return {};
  }
}
