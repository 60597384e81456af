import { setImmediate as turn } from 'node:timers/promises';
import { type Client, errors } from 'undici';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { type Connection, Connections, type Recipient } from './connections.ts';
import { testServers } from './server.testing.ts';

const servers = testServers();
afterAll(() => servers.close());

const opened: Connections[] = [];
afterEach(() => Promise.all(opened.splice(0).map((connections) => connections.close())));

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n';

function setup(options: Partial<Client.Options & { perOrigin: number }> = {}) {
  const connections = new Connections({ perOrigin: 2, ...options });
  opened.push(connections);
  const ask = (origin: string, path = '/') => {
    const asked = new Asked();
    connections.dispatch(origin, { path, method: 'GET' }, asked);
    return asked;
  };
  return { connections, ask };
}

/** A recipient that only records how the request ended. */
class Asked implements Recipient {
  connection: Connection | null = null;
  isOver = false;
  text = '';
  private settle: (outcome: unknown) => void = () => {};
  readonly outcome = new Promise<unknown>((resolve) => {
    this.settle = resolve;
  });

  onRequestStart(): void {}
  onResponseStart(): void {}

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.text += chunk;
  }

  onResponseEnd(): void {
    this.connection?.done();
    this.settle('answered');
  }

  onResponseError(_controller: unknown, error: unknown): void {
    this.connection?.broken();
    this.settle(error);
  }
}

/** Answers on demand, and knows which connection asked. */
async function patientServer() {
  const asked: { path: string; port: number; answer(): void }[] = [];
  const url = await servers.http((request, response) => {
    asked.push({ path: request.url!, port: request.socket.remotePort!, answer: () => response.end('x') });
  });
  const until = (count: number) => expect.poll(() => asked.length).toBe(count);
  return { url, asked, until };
}

describe('the HTTP connections', () => {
  it('connections are reused, the last one first', async () => {
    const { url, asked, until } = await patientServer();
    const { connections, ask } = setup();
    const both = [ask(url), ask(url)];
    await until(2);
    for (const { answer } of asked) answer();
    await Promise.all(both.map(({ outcome }) => outcome));
    await turn();
    const last = asked[1]!.port;
    for (let count = 3; count < 6; count++) {
      const next = ask(url);
      await until(count);
      asked.at(-1)!.answer();
      expect(await next.outcome).toBe('answered');
      expect(asked.at(-1)!.port).toBe(last);
      await turn();
    }
    expect(connections.size).toBe(2);
  });

  it('connections per origin are limited, and further requests wait for a free one', async () => {
    const { url, asked, until } = await patientServer();
    const other = await patientServer();
    const { connections, ask } = setup();
    const all = ['/a', '/b', '/c', '/d'].map((path) => ask(url, path));
    ask(other.url);
    await until(2);
    await other.until(1);
    expect(connections.size).toBe(3);
    asked[1]!.answer();
    await until(3);
    expect(asked[2]).toMatchObject({ path: '/c', port: asked[1]!.port });
    for (const index of [0, 2]) asked[index]!.answer();
    await until(4);
    asked[3]!.answer();
    expect(await Promise.all(all.map(({ outcome }) => outcome))).toEqual(Array(4).fill('answered'));
  });

  it('a request that was given up while it waited takes no connection', async () => {
    const { url, asked, until } = await patientServer();
    const { ask } = setup({ perOrigin: 1 });
    ask(url, '/first');
    await until(1);
    ask(url, '/given-up').isOver = true;
    ask(url, '/next');
    asked[0]!.answer();
    await until(2);
    expect(asked[1]!.path).toBe('/next');
  });

  it('a connection is not reused after a failed request, and makes room for a waiting one', async () => {
    let count = 0;
    const url = await servers.http((request, response) => (++count === 1 ? request.destroy() : response.end('x')));
    const { connections, ask } = setup({ perOrigin: 1 });
    const both = [ask(url), ask(url)];
    expect(await both[0]!.outcome).toMatchObject({ code: 'UND_ERR_SOCKET' });
    expect(await both[1]!.outcome).toBe('answered');
    expect(connections.size).toBe(1);
  });

  it('a connection that cannot be opened fails its requests, and is forgotten', async () => {
    const url = await servers.refusing();
    const { connections, ask } = setup({ perOrigin: 1 });
    const both = [ask(url), ask(url)];
    for (const { outcome } of both) expect(await outcome).toMatchObject({ code: 'ECONNREFUSED' });
    expect(connections.size).toBe(0);
  });

  it('a connection that the server closes is reopened for waiting requests, or else forgotten', async () => {
    const url = await servers.http((_request, response) => response.writeHead(200, { connection: 'close' }).end('x'));
    const { connections, ask } = setup({ perOrigin: 1 });
    const all = [ask(url), ask(url), ask(url)];
    expect(await Promise.all(all.map(({ outcome }) => outcome))).toEqual(Array(3).fill('answered'));
    await expect.poll(() => connections.size).toBe(0);
    expect(await ask(url).outcome).toBe('answered');
  });

  it('a connection closed without notice after a response fails no later request', async () => {
    const url = await servers.tcp((socket) => socket.once('data', () => socket.end(`${OK}x`)));
    const { ask } = setup();
    for (let count = 0; count < 50; count++) expect(await ask(url).outcome).toBe('answered');
  });

  it('a response that no request asked for is dropped', async () => {
    const url = await servers.tcp((socket) =>
      socket.on('data', () => {
        socket.write(`${OK}x`);
        socket.write(`${OK}y`);
      }),
    );
    const { ask } = setup();
    const texts = new Set<string>();
    for (let count = 0; count < 300; count++) {
      const asked = ask(url);
      await asked.outcome;
      texts.add(asked.text);
    }
    expect(texts).toEqual(new Set(['x']));
  });

  it('waiting requests that cannot be sent fail one after the other, without recursion', async () => {
    const { url, asked, until } = await patientServer();
    const { ask } = setup({ perOrigin: 1 });
    const first = ask(url);
    await until(1);
    const bad = Array.from({ length: 5_000 }, () => ask(url, 'no path'));
    asked[0]!.answer();
    expect(await first.outcome).toBe('answered');
    for (const { outcome } of bad) expect(await outcome).toBeInstanceOf(errors.InvalidArgumentError);
  });

  it('at most 128 connections are opened in one turn of the event loop', async () => {
    const server = await patientServer();
    const { connections, ask } = setup({ perOrigin: 300 });
    const all = Array.from({ length: 300 }, () => ask(server.url));
    await turn();
    expect(connections.size).toBe(128);
    await server.until(300);
    for (const { answer } of server.asked) answer();
    expect(new Set(await Promise.all(all.map(({ outcome }) => outcome)))).toEqual(new Set(['answered']));
  });

  it('an idle connection is closed and forgotten', async () => {
    const url = await servers.http((_request, response) => response.end('x'));
    const { connections, ask } = setup({ keepAliveTimeout: 1 });
    await ask(url).outcome;
    await expect.poll(() => connections.size, { timeout: 5_000 }).toBe(0);
  });

  it('closing the connections fails the requests in flight, and sends nothing more', async () => {
    const { url, asked, until } = await patientServer();
    const { connections, ask } = setup({ perOrigin: 1 });
    const both = [ask(url), ask(url)];
    await until(1);
    await connections.close();
    for (const { outcome } of [...both, ask(url)]) expect(await outcome).toBeInstanceOf(errors.ClientDestroyedError);
    await turn();
    expect(asked).toHaveLength(1);
    expect(connections.size).toBe(0);
  });
});
