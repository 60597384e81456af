// The open connections, by origin: so many at most of each, one request at a time on each. The one that was used last is used
// next, so that those which nobody needs any more fall idle, are closed, and are forgotten. A connection on which a request
// failed is not used again. undici's Agent does the same and more, in three layers that tell each other of every request; for
// small answers that was a fifth of what a call costs (docs/decisions/0023-connections-of-our-own.md).

import { Client, type Dispatcher, errors } from 'undici';

/** Takes the answer of one request, and says when its connection is done with it. */
export interface Recipient extends Dispatcher.DispatchHandler {
  /** Set while it has one. It must be told `done` or `broken`, once. */
  connection: Connection | null;
  /** Nobody waits for the answer any more. */
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

  /** How many are kept, of all origins. */
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

  /** What is on its way fails. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.origins.values()].map((origin) => origin.close()));
  }
}

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
  private waiting: Waiting[] = [];
  private isFilling = false;

  constructor(deps: OriginDeps) {
    this.deps = deps;
  }

  dispatch(request: Dispatcher.DispatchOptions, recipient: Recipient): void {
    const connection = this.idle.pop() ?? this.open();
    if (connection === null) this.waiting.push({ request, recipient });
    else connection.send(request, recipient);
  }

  /** The connection has nothing to do: the next that waits may have it. Unless it was closed meanwhile. */
  free(connection: OpenConnection): void {
    if (!this.all.has(connection)) return;
    this.idle.push(connection);
    this.fill();
  }

  forget(connection: OpenConnection): void {
    if (!this.all.delete(connection)) return;
    const index = this.idle.indexOf(connection);
    if (index >= 0) this.idle.splice(index, 1);
    this.fill();
  }

  async close(): Promise<void> {
    const { waiting } = this;
    this.waiting = [];
    for (const { recipient } of waiting) recipient.onResponseError?.(null!, new errors.ClientDestroyedError());
    await Promise.all([...this.all].map((connection) => connection.close()));
  }

  /** A loop, and not one inside the other: what cannot be sent fails, and leaves its connection, at once. */
  private fill(): void {
    if (this.isFilling) return;
    this.isFilling = true;
    while (this.idle.length > 0 || this.all.size < this.deps.limit) {
      const next = this.next();
      if (next === null) break;
      this.dispatch(next.request, next.recipient);
    }
    this.isFilling = false;
    if (this.all.size === 0) this.deps.emptied();
  }

  private open(): OpenConnection | null {
    if (this.all.size >= this.deps.limit) return null;
    const connection = new OpenConnection(this.deps.client(), this);
    this.all.add(connection);
    return connection;
  }

  private next(): Waiting | null {
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      if (!next.recipient.isOver) return next;
    }
    return null;
  }
}

class OpenConnection implements Connection {
  private readonly client: Client;
  private readonly origin: Origin;
  private isBusy = false;

  constructor(client: Client, origin: Origin) {
    this.client = client;
    this.origin = origin;
    // The server, or undici because it was idle for long, has closed it. One that is busy connects again by itself, or fails.
    client.on('disconnect', () => {
      if (!this.isBusy) this.leave();
    });
  }

  send(request: Dispatcher.DispatchOptions, recipient: Recipient): void {
    this.isBusy = true;
    recipient.connection = this;
    this.client.dispatch(request, recipient);
  }

  /**
   * Free in the next turn of the loop, after what came right behind the answer was read: the end of the connection, or an answer that nobody
   * asked for, which must not be taken for that of the next request. undici looks too, but not before a request that is there already.
   */
  done(): void {
    this.isBusy = false;
    setImmediate(rested, this.origin, this);
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

function rested(origin: Origin, connection: OpenConnection): void {
  origin.free(connection);
}
