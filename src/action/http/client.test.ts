import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { testClients } from './client.testing.ts';
import { testServers } from './server.testing.ts';

const servers = testServers();
afterAll(() => servers.close());

const { local } = testClients();

describe('a request', () => {
  it('a request sends the given fields and returns the response', async () => {
    const { url, received } = await servers.recording((_request, response) => {
      response.writeHead(201, { 'Content-Type': 'text/plain', 'Set-Cookie': ['a=1', 'b=2'] }).end('made');
    });
    const response = await local().request({
      url: `${url}/items?x=1#fragment`,
      method: 'POST',
      headers: { 'X-Custom': 'é' },
      body: 'payload',
    });
    expect(received).toMatchObject([
      { method: 'POST', path: '/items?x=1', body: 'payload', headers: { 'x-custom': 'é' } },
    ]);
    expect(response).toMatchObject({
      status: 201,
      headers: { 'content-type': 'text/plain', 'set-cookie': 'a=1, b=2' },
      truncated: false,
      url: `${url}/items?x=1#fragment`,
    });
    expect(response.body.toString()).toBe('made');
  });

  it('a request reuses connections', async () => {
    const ports = new Set<number | undefined>();
    const url = await servers.http((request, response) => {
      ports.add(request.socket.remotePort);
      response.end('x');
    });
    const client = local();
    for (let count = 0; count < 20; count += 1) await client.request({ url });
    expect(ports.size).toBeLessThan(20);
  });

  it.each(['', 'BAD METHOD', 'GET\r\nx: y'])('a request with the method %j is refused', async (method) => {
    const url = await servers.http((_request, response) => response.end());
    const error = await local()
      .request({ url, method })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'PARAMETERS_INVALID', message: expect.stringContaining('is not one of HTTP') });
  });

  it('a request uses no proxy of the environment', async () => {
    const url = await servers.http((_request, response) => response.end('direct'));
    const before = process.env.HTTP_PROXY;
    process.env.HTTP_PROXY = 'http://127.0.0.1:1';
    try {
      expect((await local().request({ url })).body.toString()).toBe('direct');
    } finally {
      if (before === undefined) delete process.env.HTTP_PROXY;
      else process.env.HTTP_PROXY = before;
    }
  });

  it.each([
    ['not a url', 'The URL "not a url" is not an absolute URL'],
    ['/relative', 'is not an absolute URL'],
    ['', 'is not an absolute URL'],
    ['http://', 'is not an absolute URL'],
    ['file:///etc/passwd', 'is not http or https'],
    ['ftp://example.com/', 'is not http or https'],
    ['gopher://127.0.0.1:6379/_x', 'is not http or https'],
    ['data:text/plain,x', 'is not http or https'],
    ['http://user:secret@example.com/', 'contains credentials'],
    ['http://{{host}}/', 'has a host name that cannot exist'],
    ['http://a..b/', 'has a host name that cannot exist'],
    ['http://a*b/', 'has a host name that cannot exist'],
  ])('a request to %j is refused', async (url, message) => {
    const error = await local()
      .request({ url })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'TerminalError', code: 'PARAMETERS_INVALID' });
    expect(String(error)).toContain(message);
    expect(String(error)).not.toContain('secret');
  });

  it.each<[Record<string, string>, string]>([
    [{ 'bad name': 'x' }, 'has a name that HTTP does not allow'],
    [{ 'x-a': 'one\r\nx-b: two' }, 'has a value that HTTP does not allow'],
    [{ 'x-a': '日本' }, 'has a value that HTTP does not allow'],
    [{ Host: 'internal' }, 'is set by the client'],
    [{ 'Content-Length': '3' }, 'is set by the client'],
    [{ 'transfer-encoding': 'chunked' }, 'is set by the client'],
  ])('a request with headers %j is refused', async (headers, message) => {
    await expect(local().request({ url: 'http://127.0.0.1:1/', headers })).rejects.toMatchObject({
      code: 'PARAMETERS_INVALID',
      message: expect.stringContaining(message),
    });
  });
});

describe('redirects', () => {
  it('a redirect is returned as the response by default', async () => {
    const url = await servers.http((_request, response) => response.writeHead(302, { location: '/next' }).end());
    expect(await local().request({ url })).toMatchObject({ status: 302, headers: { location: '/next' } });
  });

  it.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [307, 'POST', 'POST', 'data'],
    [308, 'PUT', 'PUT', 'data'],
    [302, 'DELETE', 'DELETE', 'data'],
  ])('a redirect %i turns %s into %s', async (status, method, expected, body) => {
    const { url, received } = await servers.recording(({ path }, response) => {
      if (path === '/') response.writeHead(status, { location: '/next' }).end('moved');
      else response.end('there');
    });
    const headers = { 'content-type': 'text/plain', authorization: 'Bearer a' };
    const response = await local().request({ url, method, body: 'data', headers, maxRedirects: 1 });
    expect(response).toMatchObject({ status: 200, url: `${url}/next` });
    expect(received[1]).toMatchObject({
      method: expected,
      path: '/next',
      body,
      headers: { authorization: 'Bearer a' },
    });
    expect('content-type' in (received[1]?.headers ?? {})).toBe(body !== '');
  });

  it('a redirect to another origin carries no secrets', async () => {
    const target = await servers.recording((_request, response) => response.end());
    const url = await servers.http((_request, response) =>
      response.writeHead(307, { location: `${target.url}/x` }).end(),
    );
    const headers = {
      Authorization: 'Bearer a',
      Cookie: 's=1',
      'X-Api-Key': 'k',
      'X-Auth-Token': 't',
      'X-Acting-User-Email': 'ada@example.com',
      'X-Other': 'stays',
    };
    await local().request({ url, headers, maxRedirects: 1 });
    const arrived = target.received[0]?.headers ?? {};
    expect(arrived).toMatchObject({ 'x-other': 'stays' });
    for (const name of ['authorization', 'cookie', 'x-api-key', 'x-auth-token', 'x-acting-user-email'])
      expect(arrived).not.toHaveProperty(name);
  });

  it('an endless chain of redirects is stopped', async () => {
    const { url, received } = await servers.recording((_request, response) =>
      response.writeHead(302, { location: '/again' }).end(),
    );
    await expect(local().request({ url, maxRedirects: 3 })).rejects.toMatchObject({
      name: 'TerminalError',
      code: 'TOO_MANY_REDIRECTS',
      message: `GET ${url}/ redirected more than 3 times`,
    });
    expect(received).toHaveLength(4);
  });

  it('a redirect without a location is returned as the response', async () => {
    const url = await servers.http((_request, response) => response.writeHead(302).end('?'));
    expect(await local().request({ url, maxRedirects: 3 })).toMatchObject({ status: 302 });
  });

  it('a redirect to an invalid URL is returned as the response', async () => {
    const url = await servers.http((_request, response) => response.writeHead(302, { location: 'http://[' }).end('?'));
    expect(await local().request({ url, maxRedirects: 3 })).toMatchObject({ status: 302 });
  });
});

describe('size limits', () => {
  const endless = () =>
    servers.http((_request, response) => {
      const more = () => {
        while (response.write('x'.repeat(16_384)));
      };
      response.on('drain', more).on('error', () => {});
      more();
    });

  it('a body that is too large is refused', async () => {
    const request = local().request({ url: await endless(), maxBytes: 1000 });
    await expect(request).rejects.toMatchObject({
      name: 'TerminalError',
      code: 'RESPONSE_TOO_LARGE',
      message: 'The response is larger than 1000 bytes',
    });
  });

  it('a body that is too large is cut if requested', async () => {
    const response = await local().request({ url: await endless(), maxBytes: 1000, onOversize: 'truncate' });
    expect(response).toMatchObject({ status: 200, truncated: true });
    expect(response.body).toHaveLength(1000);
  });

  it('a body of exactly the limit is complete', async () => {
    const url = await servers.http((_request, response) => response.end('x'.repeat(1000)));
    expect(await local().request({ url, maxBytes: 1000, onOversize: 'truncate' })).toMatchObject({ truncated: false });
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ] as const)('a %s body is decoded, and a decompression bomb is refused', async (encoding, compress) => {
    const small = compress('hello '.repeat(10));
    const bomb = compress(Buffer.alloc(50_000_000));
    const url = await servers.http((request, response) => {
      response.setHeader('content-encoding', encoding).end(request.url === '/bomb' ? bomb : small);
    });
    const client = local();
    expect((await client.request({ url })).body.toString()).toBe('hello '.repeat(10));
    await expect(client.request({ url: `${url}/bomb` })).rejects.toMatchObject({ code: 'RESPONSE_TOO_LARGE' });
    const cut = await client.request({ url: `${url}/bomb`, maxBytes: 5000, onOversize: 'truncate' });
    expect(cut).toMatchObject({ truncated: true });
    expect(cut.body).toHaveLength(5000);
  });

  it('compressed data that expands to nothing forever is refused', async () => {
    // Members of gzip may follow one another, and each may be empty.
    const members = Buffer.concat(Array.from({ length: 1000 }, () => gzipSync('')));
    const url = await servers.http((_request, response) => {
      response.setHeader('content-encoding', 'gzip');
      const more = () => {
        while (response.write(members));
      };
      response.on('drain', more).on('error', () => {});
      more();
    });
    await expect(local().request({ url, maxBytes: 1000 })).rejects.toMatchObject({ code: 'RESPONSE_TOO_LARGE' });
  });

  it('a response without a body may name an encoding', async () => {
    const url = await servers.http((_request, response) =>
      response.writeHead(204, { 'content-encoding': 'gzip' }).end(),
    );
    expect((await local().request({ url })).body).toHaveLength(0);
    expect((await local().request({ url, method: 'HEAD' })).body).toHaveLength(0);
  });

  it.each(['gzip', 'br', 'deflate'])('a body that is not valid %s is retried', async (encoding) => {
    const url = await servers.http((_request, response) =>
      response.setHeader('content-encoding', encoding).end('plain text'),
    );
    await expect(local().request({ url })).rejects.toMatchObject({ name: 'RetryableError', code: 'RESPONSE_INVALID' });
  });

  it.each(['zstd', 'gzip, gzip', '__proto__'])('the encoding %s is refused', async (encoding) => {
    const url = await servers.http((_request, response) => response.setHeader('content-encoding', encoding).end('x'));
    await expect(local().request({ url })).rejects.toMatchObject({ name: 'TerminalError', code: 'RESPONSE_INVALID' });
  });

  it('headers that are too large are refused', async () => {
    const url = await servers.tcp((socket) => {
      socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\n${`x-pad: ${'y'.repeat(1000)}\r\n`.repeat(100)}\r\n`));
    });
    await expect(local().request({ url })).rejects.toMatchObject({ name: 'TerminalError', code: 'RESPONSE_TOO_LARGE' });
  });
});

describe('time limits', () => {
  it.each<[string, string]>([
    ['says nothing', ''],
    ['stops in its headers', 'HTTP/1.1 200 OK\r\nx-slow: '],
    ['stops in its body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc'],
  ])('a server that %s is given up', async (_name, text) => {
    const url = await servers.tcp((socket) => socket.on('data', () => socket.write(text)));
    await expect(local().request({ url, timeoutMs: 50 })).rejects.toMatchObject({
      name: 'RetryableError',
      code: 'HTTP_TIMEOUT',
      message: 'The request did not finish within 50 ms',
    });
  });

  it('a slow body cannot outlast the deadline', async () => {
    const url = await servers.http((_request, response) => {
      const timer = setInterval(() => response.write('.'), 5);
      response.on('close', () => clearInterval(timer));
    });
    await expect(local().request({ url, timeoutMs: 60 })).rejects.toMatchObject({ code: 'HTTP_TIMEOUT' });
  });

  it('a body that pauses too long is given up', async () => {
    const url = await servers.http((_request, response) => response.write('start'));
    await expect(local({ bodyIdleTimeoutMs: 50 }).request({ url })).rejects.toMatchObject({
      name: 'RetryableError',
      code: 'HTTP_TIMEOUT',
    });
  });

  it('the deadline covers all redirects together', async () => {
    const url = await servers.http((request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/slow' }).end();
    });
    await expect(local().request({ url, maxRedirects: 1, timeoutMs: 60 })).rejects.toMatchObject({
      code: 'HTTP_TIMEOUT',
    });
  });
});

describe('an abort', () => {
  const reason = new Error('stop it');

  it('an abort before the request sends nothing', async () => {
    const request = local().request({ url: 'http://127.0.0.1:1/', signal: AbortSignal.abort(reason) });
    await expect(request).rejects.toBe(reason);
  });

  it('an abort before the headers ends the request', async () => {
    const controller = new AbortController();
    const url = await servers.http(() => controller.abort(reason));
    await expect(local().request({ url, signal: controller.signal })).rejects.toBe(reason);
  });

  it('an abort in the middle of the body ends the request, and the server sees it', async () => {
    const controller = new AbortController();
    const closed = Promise.withResolvers<void>();
    const url = await servers.http((_request, response) => {
      response.on('close', closed.resolve);
      response.write('half', () => controller.abort(reason));
    });
    await expect(local().request({ url, signal: controller.signal })).rejects.toBe(reason);
    await closed.promise;
  });
});

describe('retries of failed connections', () => {
  it('a refused connection is retried', async () => {
    const url = await servers.refusing();
    await expect(local().request({ url: `${url}/path?key=secret` })).rejects.toMatchObject({
      name: 'RetryableError',
      code: 'NETWORK_ERROR',
      message: `GET ${url}/path: nobody listens there (ECONNREFUSED)`,
    });
  });

  it('a name that does not exist is retried', async () => {
    await expect(local().request({ url: 'http://nowhere.test/' })).rejects.toMatchObject({
      name: 'RetryableError',
      code: 'NETWORK_ERROR',
      message: 'GET http://nowhere.test/: the name does not exist (ENOTFOUND)',
    });
  });

  it('a name without an address is retried', async () => {
    await expect(
      local({ resolve: () => Promise.resolve([]) }).request({ url: 'http://empty.test/' }),
    ).rejects.toMatchObject({
      code: 'NETWORK_ERROR',
    });
  });

  it.each<[string, string]>([
    ['closes at once', ''],
    ['is not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['breaks off in the body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc'],
    ['sends a bad chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
  ])('a request is retried when the server %s', async (_name, text) => {
    const url = await servers.tcp((socket) => socket.on('data', () => socket.end(text)));
    await expect(local().request({ url })).rejects.toMatchObject({ name: 'RetryableError', code: 'NETWORK_ERROR' });
  });

  it('a TLS request to a server without TLS is retried', async () => {
    const url = await servers.http((_request, response) => response.end());
    await expect(local().request({ url: url.replace('http:', 'https:') })).rejects.toMatchObject({
      code: 'NETWORK_ERROR',
    });
  });
});
