// Open connections by origin: a limited number per origin, one request at a time on each. The most recently used one is used
// next, so that unneeded ones fall idle, are closed and forgotten. A connection with a failed request is not used again. undici's
// Agent does the same and more, in three layers that notify each other of every request; for small responses that was a fifth of
// a call's cost (docs/decisions/0023-connections-of-our-own.md).

import { Client, type Dispatcher, errors } from 'undici';

/** Takes the response of one request, and says when its connection is free. */
export interface Recipient extends Dispatcher.DispatchHandler {
  /** Set while it has one. Must be told `done` or `broken`, once. */
  connection: Connection | null;
  /** Nobody waits for the response any more. */
  readonly isOver: boolean;
}

export interface Connection {
  done(): void;
  broken(): void;
}

export class Connections {
  private readonly options: Client.Options;
  private readonly perOrigin: number;
  private readonly origins = new Map<string, Origin>();
  private isClosed = false;

  constructor({ perOrigin, ...options }: Client.Options & { readonly perOrigin: number }) {
    this.options = { ...options, pipelining: 1, allowH2: false };
    this.perOrigin = perOrigin;
  }

  /** The number of connections to all origins. */
  get size(): number {
    return [...this.origins.values()].reduce((sum, { all }) => sum + all.size, 0);
  }

  dispatch(origin: string, request: Dispatcher.DispatchOptions, recipient: Recipient): void {
    if (this.isClosed) return recipient.onResponseError?.(null!, new errors.ClientDestroyedError());
    let known = this.origins.get(origin);
    if (known === undefined) {
      const client = () => new Client(origin, this.options);
      known = new Origin({ client, limit: this.perOrigin, emptied: () => this.origins.delete(origin) });
      this.origins.set(origin, known);
    }
    known.dispatch(request, recipient);
  }

  /** Requests in flight fail. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.origins.values()].map((origin) => origin.close()));
  }
}

/** Opening a connection takes time, and others need the event loop too (S4). */
const SENT_PER_TURN = 128;

interface OriginDeps {
  readonly client: () => Client;
  readonly limit: number;
  readonly emptied: () => void;
}

interface Waiting {
  readonly request: Dispatcher.DispatchOptions;
  readonly recipient: Recipient;
}

class Origin {
  readonly all = new Set<OpenConnection>();
  private readonly deps: OriginDeps;
  private readonly idle: OpenConnection[] = [];
  /** Connections that have answered in this turn of the loop. */
  private resting: OpenConnection[] = [];
  private readonly waiting: Waiting[] = [];
  private isTurnComing = false;

  constructor(deps: OriginDeps) {
    this.deps = deps;
  }

  /**
   * Sent at the end of this turn of the loop, together with other requests to the origin: a server on the same machine is
   * woken once for all of them (docs/decisions/0023-connections-of-our-own.md).
   */
  dispatch(request: Dispatcher.DispatchOptions, recipient: Recipient): void {
    this.waiting.push({ request, recipient });
    if (this.hasPlace()) this.turnSoon();
  }

  /**
   * The connection has answered. It becomes free at the end of this turn of the loop, after everything right behind the
   * response was read: the end of the connection, or an unsolicited response, which must not be taken for the next one.
   * undici checks too, but not before a request that is already queued.
   */
  rest(connection: OpenConnection): void {
    this.resting.push(connection);
    this.turnSoon();
  }

  /** Sends requests while there are free connections. A request that cannot be sent fails at once and frees its connection. */
  turn(): void {
    this.isTurnComing = false;
    const { waiting, resting } = this;
    this.resting = [];
    // Unless it was closed meanwhile.
    for (const connection of resting) if (this.all.has(connection)) this.idle.push(connection);
    let taken = 0;
    for (let sent = 0; sent < SENT_PER_TURN && taken < waiting.length && this.hasPlace(); taken++) {
      const { request, recipient } = waiting[taken]!;
      if (recipient.isOver) continue;
      sent++;
      (this.idle.pop() ?? this.open()).send(request, recipient);
    }
    waiting.splice(0, taken);
    this.goOn();
  }

  forget(connection: OpenConnection): void {
    if (!this.all.delete(connection)) return;
    const index = this.idle.indexOf(connection);
    if (index >= 0) this.idle.splice(index, 1);
    this.goOn();
  }

  async close(): Promise<void> {
    for (const { recipient } of this.waiting.splice(0))
      recipient.onResponseError?.(null!, new errors.ClientDestroyedError());
    await Promise.all([...this.all].map((connection) => connection.close()));
  }

  private hasPlace(): boolean {
    return this.idle.length > 0 || this.all.size < this.deps.limit;
  }

  private goOn(): void {
    if (this.waiting.length === 0 && this.all.size === 0) this.deps.emptied();
    else if (this.waiting.length > 0 && this.hasPlace()) this.turnSoon();
  }

  private turnSoon(): void {
    if (this.isTurnComing) return;
    this.isTurnComing = true;
    setImmediate(takeTurn, this);
  }

  private open(): OpenConnection {
    const connection = new OpenConnection(this.deps.client(), this);
    this.all.add(connection);
    return connection;
  }
}

class OpenConnection implements Connection {
  private readonly client: Client;
  private readonly origin: Origin;
  private isBusy = false;

  constructor(client: Client, origin: Origin) {
    this.client = client;
    this.origin = origin;
    // The server closed it, or undici did because it was idle. A busy one reconnects by itself, or fails.
    client.on('disconnect', () => {
      if (!this.isBusy) this.leave();
    });
  }

  send(request: Dispatcher.DispatchOptions, recipient: Recipient): void {
    this.isBusy = true;
    recipient.connection = this;
    this.client.dispatch(request, recipient);
  }

  done(): void {
    this.isBusy = false;
    this.origin.rest(this);
  }

  broken(): void {
    this.isBusy = false;
    this.leave();
  }

  close(): Promise<void> {
    return this.client.destroy();
  }

  private leave(): void {
    void this.client.destroy();
    this.origin.forget(this);
  }
}

function takeTurn(origin: Origin): void {
  origin.turn();
}
