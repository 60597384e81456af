// Hints over LISTEN and NOTIFY: one connection that listens, and a coalesced NOTIFY in a statement of its own. At start it
// sends itself a note: transaction poolers accept LISTEN and deliver nothing, and that must be known, not guessed. One note is
// on its way at a time, and now and then an empty one: a connection that does not answer is given up for a new one.

import { randomUUID } from 'node:crypto';
import { setTimeout as passed } from 'node:timers/promises';
import pg from 'pg';
import type { Hint, Hints } from '../hint-port.ts';
import { connectionIsBroken } from './sqlstate.ts';

const CHANNEL = 'pawl_hint';
const COALESCE_MS = 10;
const RECONNECT_MS = 1_000;
const SELF_TEST_MS = 2_000;
/** NOTIFY carries at most 8,000 bytes. */
const MAX_IDS = 150;
/** Beyond these, while a note waits for its answer, mail is found by polling. */
const MAX_WAITING_IDS = 15_000;
const CLOSE_MS = 1_000;

interface Note {
  readonly work?: true;
  readonly mail?: readonly string[];
  readonly test?: string;
}

interface HintOptions {
  readonly connectionString: string;
  readonly receive: (hint: Hint) => void;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
  readonly queryTimeoutMs?: number;
  /** How long nothing may be said on the connection. */
  readonly beatMs?: number;
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
  private work = false;
  private mail = new Set<string>();
  /** Not null until the note that it sends is answered. */
  private flushTimer: NodeJS.Timeout | null = null;
  private readonly beatTimer: NodeJS.Timeout;
  private reconnectTimer: NodeJS.Timeout | null = null;
  private closed = false;
  private testArrived: ((id: string) => void) | null = null;

  constructor(options: HintOptions) {
    this.options = options;
    this.beatTimer = setInterval(() => this.flushSoon(), options.beatMs ?? 30_000).unref();
  }

  async open(): Promise<void> {
    const { connectionString, queryTimeoutMs = 10_000 } = this.options;
    const client = new pg.Client({
      connectionString,
      application_name: 'pawl hints',
      connectionTimeoutMillis: queryTimeoutMs,
      query_timeout: queryTimeoutMs,
      keepAlive: true,
    });
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
    else if (this.mail.size < MAX_WAITING_IDS) this.mail.add(hint.executionId);
    this.flushSoon();
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.beatTimer);
    if (this.flushTimer !== null) clearTimeout(this.flushTimer);
    if (this.reconnectTimer !== null) clearTimeout(this.reconnectTimer);
    // A network that has stopped does not say goodbye.
    await Promise.race([this.client?.end().catch(() => undefined), passed(CLOSE_MS, undefined, { ref: false })]);
  }

  private flushSoon(): void {
    if (!this.closed) this.flushTimer ??= setTimeout(() => void this.flush(), COALESCE_MS);
  }

  private async flush(): Promise<void> {
    do {
      const { work } = this;
      const mail = [...this.mail].slice(0, MAX_IDS);
      this.work = false;
      for (const id of mail) this.mail.delete(id);
      await this.notify({ ...(work ? { work } : {}), mail });
    } while (this.mail.size >= MAX_IDS);
    this.flushTimer = null;
    if (this.work || this.mail.size > 0) this.flushSoon();
  }

  private async notify(note: Note): Promise<void> {
    const { client } = this;
    try {
      await client?.query('select pg_notify($1, $2)', [CHANNEL, JSON.stringify(note)]);
    } catch (error) {
      // With a statement unanswered, end() does not wait for the other side either.
      if (connectionIsBroken(error)) void client?.end().catch(() => undefined);
    }
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
