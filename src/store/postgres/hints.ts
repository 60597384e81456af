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

export async function openHints(options: {
  readonly connectionString: string;
  readonly receive: (hint: Hint) => void;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
}): Promise<Hints> {
  const hints = new PostgresHints(options);
  await hints.open();
  return hints;
}

class PostgresHints implements Hints {
  delivering = false;
  private readonly options: Parameters<typeof openHints>[0];
  private client: pg.Client | null = null;
  private work = false;
  private mail = new Set<string>();
  private timer: NodeJS.Timeout | null = null;
  private closed = false;
  private testArrived: ((id: string) => void) | null = null;

  constructor(options: Parameters<typeof openHints>[0]) {
    this.options = options;
  }

  async open(): Promise<void> {
    const client = new pg.Client({ connectionString: this.options.connectionString, application_name: 'pawl hints' });
    client.on('error', () => {});
    client.on('notification', ({ payload }) => this.received(payload ?? ''));
    client.on('end', () => this.reconnectLater());
    await client.connect();
    await client.query(`listen ${CHANNEL}`);
    this.client = client;
    this.delivering = await this.selfTest(client);
    if (!this.delivering) {
      this.options.warn('notifications do not arrive; new work is found by polling only', {
        advice: 'give the engine a direct connection to PostgreSQL, not a transaction pooler',
      });
    }
  }

  send(hint: Hint): void {
    if (hint.kind === 'work') this.work = true;
    else this.mail.add(hint.executionId);
    this.timer ??= setTimeout(() => this.flush(), COALESCE_MS);
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    await this.client?.end().catch(() => undefined);
  }

  private flush(): void {
    this.timer = null;
    const ids = [...this.mail];
    const work = this.work;
    this.mail.clear();
    this.work = false;
    for (let from = 0; from < Math.max(1, ids.length); from += MAX_IDS) {
      this.notify({ ...(work ? { work } : {}), mail: ids.slice(from, from + MAX_IDS) });
    }
  }

  private notify(note: Note): void {
    this.client?.query('select pg_notify($1, $2)', [CHANNEL, JSON.stringify(note)]).catch(() => undefined);
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
    await client.query('select pg_notify($1, $2)', [CHANNEL, JSON.stringify({ test: id } satisfies Note)]);
    const arrived = await promise;
    clearTimeout(giveUp);
    this.testArrived = null;
    return arrived;
  }

  private reconnectLater(): void {
    this.client = null;
    this.delivering = false;
    if (this.closed) return;
    const timer = setTimeout(() => {
      if (!this.closed) this.open().catch(() => this.reconnectLater());
    }, RECONNECT_MS);
    timer.unref();
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
