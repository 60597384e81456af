// Hints over LISTEN and NOTIFY: one connection that listens, and a coalesced NOTIFY in a statement of its own. At start it
// sends itself a note: transaction poolers accept LISTEN and deliver nothing, and that must be known, not guessed. One note is
// on its way at a time, and now and then an empty one: a connection that does not answer is given up for a new one.
//
// A note of work goes only to the runners that are to look: as many as are needed, of those that have said that they have room
// (room-list.ts). Each process with a runner says so when it comes, when that changes, and now and then. Where nobody has said
// anything, everybody is told. All other notes are for everybody.

import { randomUUID } from 'node:crypto';
import { setTimeout as passed } from 'node:timers/promises';
import type pg from 'pg';
import { Address, type ClientOptions } from '../connection/address.ts';
import { addLanes, type Hint, type HintedLane, type Hints } from '../hint-port.ts';
import { type Room, RoomList } from '../room-list.ts';
import { connectionIsBroken } from './sqlstate.ts';

const CHANNEL = 'pawl_hint';
/** Of one process. Not even the program of another one wakes for what is sent here. */
const channelOf = (process: string) => `${CHANNEL}_${process}`;
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
  /** Tenant, priority and number of each; absent: it is not known where the work is. */
  readonly lanes?: readonly (readonly [string, number, number])[];
  /** The runners that should look; absent: everybody who hears it. */
  readonly to?: readonly string[];
  readonly mail?: readonly string[];
  /** Task queues that attempts came into. */
  readonly queues?: readonly string[];
  /** Consumers that have something due. */
  readonly due?: readonly string[];
  /** Notices that were written by the process `from`, which knows them. */
  readonly notices?: readonly string[];
  readonly from?: string;
  readonly test?: string;
  /** Whether the runner of this process has room, and for how many executions; absent: an older version does not say. */
  readonly room?: { readonly of: string; readonly has: boolean; readonly places?: number; readonly pressed?: boolean };
  /** A process that has just come asks the others whether they have room. */
  readonly who?: true;
}

interface Addressed {
  readonly channel: string;
  readonly note: Note;
}

const forAll = (note: Note): Addressed => ({ channel: CHANNEL, note });

/** A note carries at most 8,000 bytes. Where this is not enough, those who look find the lanes by themselves. */
const MAX_LANE_BYTES = 2_000;
const BEAT_MS = 30_000;
/** How long a runner counts as having room without news. Hints to a killed runner are lost until then. */
const ROOM_BEAT_MS = 5_000;
const ROOM_KNOWN_MS = 12_000;
/** How often it looks whether its runner still has room, or has room again. */
const ROOM_EVERY_MS = 100;
/** A process that comes so late to look whether its runner has room is late with its work, too. */
const LATE_MS = 100;
/** How long a runner that was told of work counts as at work, and one that was late as late. */
const PRESSED_FOR_MS = 1_000;
/** What a runner of an older version is told of, which says only that it has room. */
const PLACES_UNSAID = 64;

interface HintOptions {
  readonly connectionString: string;
  readonly receive: (hint: Hint) => void;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
  readonly queryTimeoutMs?: number;
  /** How long nothing may be said on the connection. */
  readonly beatMs?: number;
  /** How many executions the runner of this process would take now; absent: it has none. */
  readonly room?: (() => number) | undefined;
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
  private readonly address: Address;
  private client: pg.Client | null = null;
  private readonly self = randomUUID().slice(0, 8);
  private work = false;
  /** Null: it is not known where. */
  private lanes: readonly HintedLane[] | null = [];
  private mail = new Set<string>();
  private queues = new Set<string>();
  private due = new Set<string>();
  private notices = new Set<string>();
  /** What to say about room, when something is to be said: to be sent with the next note. */
  private owesRoom = false;
  /** Null: nothing was said yet. */
  private saidRoom: Room | null = null;
  private lookedAt = performance.now();
  private toldAt = Number.NEGATIVE_INFINITY;
  private lateAt = Number.NEGATIVE_INFINITY;
  private owesQuestion = false;
  /** Of the others and of this one. */
  private readonly rooms = new RoomList(ROOM_KNOWN_MS);
  /** Runners without a channel of their own. */
  private readonly olderVersions = new Set<string>();
  /** Not null until the note that it sends is answered. */
  private flushedAt = Number.NEGATIVE_INFINITY;
  private flushTimer: NodeJS.Timeout | null = null;
  private readonly beatTimer: NodeJS.Timeout;
  private readonly roomTimer: NodeJS.Timeout;
  private reconnectTimer: NodeJS.Timeout | null = null;
  private closed = false;
  private testArrived: ((id: string) => void) | null = null;

  constructor(options: HintOptions) {
    this.options = options;
    this.address = new Address(options.connectionString);
    const beatMs = options.beatMs ?? (options.room === undefined ? BEAT_MS : ROOM_BEAT_MS);
    this.beatTimer = setInterval(() => this.sayRoom(), beatMs).unref();
    this.roomTimer = setInterval(() => this.lookAtRoom(), ROOM_EVERY_MS).unref();
  }

  async open(): Promise<void> {
    let opened: pg.Client | null = null;
    try {
      const client = await this.address.connect(this.clientOptions('pawl hints'));
      if (this.closed) return void (await client.end());
      opened = client;
      const ended = new Promise<never>((_, reject) =>
        client.once('end', () => reject(new Error('the connection ended'))),
      );
      ended.catch(() => this.lost(client));
      client.on('notification', ({ payload }) => this.received(payload ?? ''));
      this.client = client;
      await client.query(`listen ${CHANNEL}; listen "${channelOf(this.self)}"`);
      this.delivering = await Promise.race([this.selfTest(), ended]);
    } catch (error) {
      this.options.warn('no connection for hints; work is found by polling until there is one', {
        error: String(error),
      });
      await opened?.end().catch(() => undefined);
      return this.lost(opened);
    }
    if (this.delivering) {
      this.saidRoom = null;
      this.owesQuestion = true;
      this.sayRoom();
    } else {
      this.options.warn('notifications do not arrive; work is found by polling only', {
        advice: 'set database.directUrl to PostgreSQL itself: a transaction pooler does not pass them on',
      });
    }
  }

  private clientOptions(applicationName: string): ClientOptions {
    const { queryTimeoutMs = 10_000 } = this.options;
    return { applicationName, connectTimeoutMs: queryTimeoutMs, queryTimeoutMs };
  }

  send(hint: Hint): void {
    if (hint.kind === 'work') {
      this.work = true;
      this.lanes = this.lanes === null || hint.lanes === undefined ? null : addLanes(this.lanes, hint.lanes);
    } else if (hint.kind === 'attempts') for (const queue of hint.taskQueues) this.queues.add(queue);
    else if (hint.kind === 'deliveries') for (const consumerId of hint.consumerIds) this.due.add(consumerId);
    else if (hint.kind === 'notices') for (const noticeId of hint.noticeIds) this.notices.add(noticeId);
    else if (this.mail.size < MAX_WAITING_IDS) this.mail.add(hint.executionId);
    // A step on a worker waits for both of these, one after the other.
    this.flushSoon(hint.kind === 'attempts' || hint.kind === 'mail');
  }

  private sayRoom(): void {
    this.owesRoom = true;
    this.flushSoon();
  }

  private lookAtRoom(): void {
    const now = performance.now();
    const isLate = now - this.lookedAt > ROOM_EVERY_MS + LATE_MS;
    // On a machine that is too busy all are late; only the one that is at work can leave some to others.
    if (isLate && now - this.toldAt < PRESSED_FOR_MS) this.lateAt = now;
    this.lookedAt = now;
    const room = this.ownRoom();
    if (room !== null && this.delivering && isNews(room, this.saidRoom)) this.sayRoom();
  }

  private ownRoom(): Room | null {
    const { room } = this.options;
    return room === undefined ? null : { places: room(), isPressed: performance.now() - this.lateAt < PRESSED_FOR_MS };
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.beatTimer);
    clearInterval(this.roomTimer);
    if (this.flushTimer !== null) clearTimeout(this.flushTimer);
    if (this.reconnectTimer !== null) clearTimeout(this.reconnectTimer);
    // A network that has stopped does not say goodbye.
    await Promise.race([this.sayGoodbye(), passed(CLOSE_MS, undefined, { ref: false })]);
  }

  /** Announces that this process takes no more work, and what it gave back a moment ago. */
  private async sayGoodbye(): Promise<void> {
    this.rooms.forget(this.self);
    if (this.work) await this.notify(...this.takeWork());
    if (this.options.room !== undefined) await this.notify(forAll({ room: { of: this.self, has: false } }));
    await this.client?.end().catch(() => undefined);
  }

  /** `isUrgent`: at once, unless a note was sent a moment ago. What comes together then leaves together after the pause. */
  private flushSoon(isUrgent = false): void {
    if (this.closed || this.flushTimer !== null) return;
    const rested = isUrgent && performance.now() - this.flushedAt >= COALESCE_MS;
    this.flushTimer = setTimeout(() => void this.flush(), rested ? 0 : COALESCE_MS);
  }

  private async flush(): Promise<void> {
    do {
      const mail = [...this.mail].slice(0, MAX_IDS);
      for (const id of mail) this.mail.delete(id);
      const work = this.takeWork();
      const rest = { ...this.takeRoom(), ...this.takeQueues(), ...(mail.length > 0 ? { mail } : {}) };
      const isWorkAll = work.length > 0 && Object.keys(rest).length === 0;
      await this.notify(...work, ...(isWorkAll ? [] : [forAll(rest)]));
    } while (this.mail.size >= MAX_IDS);
    if (this.due.size + this.notices.size > 0) await this.notify(forAll({ ...this.takeMessages(), from: this.self }));
    this.flushTimer = null;
    this.flushedAt = performance.now();
    const left = this.mail.size + this.queues.size + this.due.size + this.notices.size;
    if (this.work || left > 0 || this.owesRoom) this.flushSoon();
  }

  private takeWork(): Addressed[] {
    const { work, lanes } = this;
    this.work = false;
    this.lanes = [];
    if (!work) return [];
    const to = this.chooseRunners(countOf(lanes));
    const short = lanes?.map(({ tenantId, priority, count }) => [tenantId, priority, count] as const);
    const fits = short !== undefined && Buffer.byteLength(JSON.stringify(short)) <= MAX_LANE_BYTES;
    const note = { work, ...(fits ? { lanes: short } : {}) };
    if (to.length === 0) return [forAll(note)];
    const isOlder = to.some((runner) => this.olderVersions.has(runner));
    return isOlder ? [forAll({ ...note, to })] : to.map((runner) => ({ channel: channelOf(runner), note }));
  }

  /** No more than fit: workers find the rest by polling. */
  private takeQueues(): Note {
    const queues: string[] = [];
    let bytes = 0;
    for (const queue of this.queues) {
      bytes += Buffer.byteLength(queue) + 3;
      if (bytes <= MAX_LANE_BYTES / 2) queues.push(queue);
    }
    this.queues = new Set();
    return queues.length === 0 ? {} : { queues };
  }

  /** No more than fit: the others find the rest by polling. */
  private takeMessages(): Note {
    const [due, notices] = [[...this.due], [...this.notices]].map((ids) => ids.slice(0, MAX_IDS));
    this.due.clear();
    this.notices.clear();
    return { due: due!, notices: notices! };
  }

  private takeRoom(): Note {
    const room = this.owesRoom ? this.ownRoom() : null;
    const asks = this.owesQuestion;
    this.owesRoom = false;
    this.owesQuestion = false;
    if (room !== null) this.saidRoom = room;
    return {
      ...(room === null ? {} : { room: { of: this.self, has: room.places > 0, ...wireRoom(room) } }),
      ...(asks ? { who: true as const } : {}),
    };
  }

  private chooseRunners(ready: number): string[] {
    // Its own entry may be stale: a stopping runner gives back its work before it announces that it has no room.
    if ((this.options.room?.() ?? 0) === 0) this.rooms.forget(this.self);
    return this.rooms.choose(ready, { now: performance.now(), time: Date.now() });
  }

  private heardRoom({ of, has, places, pressed = false }: NonNullable<Note['room']>): void {
    if (has && places === undefined) this.olderVersions.add(of);
    else this.olderVersions.delete(of);
    const room = { places: has ? (places ?? PLACES_UNSAID) : 0, isPressed: pressed };
    this.rooms.heard(of, room, performance.now());
  }

  private async notify(...notes: readonly Addressed[]): Promise<void> {
    const { client } = this;
    try {
      await client?.query(
        'select pg_notify(channel, note) from unnest($1::text[], $2::text[]) as notes (channel, note)',
        [notes.map(({ channel }) => channel), notes.map(({ note }) => JSON.stringify(note))],
      );
    } catch (error) {
      // With a statement unanswered, end() does not wait for the other side either.
      if (connectionIsBroken(error)) void client?.end().catch(() => undefined);
    }
  }

  private received(payload: string): void {
    const note = parseNote(payload);
    if (note.test !== undefined) this.testArrived?.(note.test);
    if (note.room !== undefined) this.heardRoom(note.room);
    if (note.who === true) this.sayRoom();
    if (note.work && (note.to === undefined || note.to.includes(this.self))) {
      this.toldAt = performance.now();
      const lanes = note.lanes?.map(([tenantId, priority, count]) => ({ tenantId, priority, count }));
      this.options.receive({ kind: 'work', lanes });
    }
    for (const executionId of note.mail ?? []) this.options.receive({ kind: 'mail', executionId });
    if (note.queues !== undefined) this.options.receive({ kind: 'attempts', taskQueues: note.queues });
    if (note.from === undefined || note.from === this.self) return;
    if (isAny(note.due)) this.options.receive({ kind: 'deliveries', consumerIds: note.due });
    if (isAny(note.notices)) this.options.receive({ kind: 'notices', noticeIds: note.notices });
  }

  /** From a second connection: a transaction pooler may happen to deliver what was sent on the one that listens. */
  private async selfTest(): Promise<boolean> {
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const giveUp = setTimeout(() => resolve(false), SELF_TEST_MS);
    this.testArrived = (arrived) => {
      if (arrived === id) resolve(true);
    };
    const sender = await this.address.connect(this.clientOptions('pawl hints test'));
    try {
      await sender.query('select pg_notify($1, $2)', [CHANNEL, JSON.stringify({ test: id } satisfies Note)]);
      return await promise;
    } finally {
      clearTimeout(giveUp);
      this.testArrived = null;
      await sender.end().catch(() => undefined);
    }
  }

  /** Once per connection, however it is lost, and one try to come back at a time. */
  private lost(client: pg.Client | null): void {
    if (this.client !== client) return;
    this.client = null;
    this.delivering = false;
    if (this.closed) return;
    this.reconnectTimer = setTimeout(() => void this.open(), RECONNECT_MS);
    this.reconnectTimer.unref();
  }
}

/** Of work whose place is not known, any amount: as if it were one. */
const countOf = (lanes: readonly HintedLane[] | null): number =>
  lanes === null ? 1 : lanes.reduce((sum, { count }) => sum + count, 0);

const wireRoom = ({ places, isPressed }: Room) => ({ places, ...(isPressed ? { pressed: true } : {}) });

/** Whether there is room at all, or a good deal more or less of it: saying so costs a note. */
function isNews(room: Room, said: Room | null): boolean {
  if (said === null || room.isPressed !== said.isPressed || room.places > 0 !== said.places > 0) return true;
  return room.places > 2 * said.places || 2 * room.places < said.places;
}

const isAny = (ids: readonly string[] | undefined): ids is readonly string[] => ids !== undefined && ids.length > 0;

/** Anybody may notify on our channel: what is not a note of ours means nothing. */
function parseNote(payload: string): Note {
  try {
    const note: unknown = JSON.parse(payload);
    return typeof note === 'object' && note !== null ? (note as Note) : {};
  } catch {
    return {};
  }
}
