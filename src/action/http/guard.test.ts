import { afterAll, describe, expect, it } from 'vitest';
import { testClients } from './client.testing.ts';
import type { ResolvedAddress } from './guard.ts';
import { testServers } from './server.testing.ts';

const servers = testServers();
afterAll(() => servers.close());

const { clientWith, local } = testClients();

const answers = (...addresses: string[]): Promise<ResolvedAddress[]> =>
  Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));

/** From a documentation range: allowed here so that a name has a valid address, and routed nowhere. */
const ALLOWED = '192.0.2.1';

describe('addresses (S5)', () => {
  const resolve = (host: string): Promise<ResolvedAddress[]> => {
    switch (host.replace(/\.$/, '')) {
      case 'localhost':
        return answers('127.0.0.1', '::1');
      case 'metadata.google.internal':
        return answers('169.254.169.254');
      case 'rebind.test':
        return answers(ALLOWED, '10.0.0.5');
      case 'six.test':
        return answers('::ffff:192.168.0.1');
      default:
        return answers('0.0.0.0');
    }
  };

  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://127.0.0.1:8080/',
    'https://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.1/',
    'http://017700000001/',
    'http://0177.0.0.1/',
    'http://127.0.0.1./',
    'http://①②⑦.⓪.⓪.①/',
    'http://127%2e0%2e0%2e1/',
    'http://0/',
    'http://0.0.0.0/',
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://0xa9fea9fe/',
    'http://2852039166/',
    'http://192.168.0.1/',
    'http://172.16.5.4/',
    'http://100.64.0.1/',
    'http://168.63.129.16/',
    'http://255.255.255.255/',
    'http://224.0.0.1/',
    'http://[::1]/',
    'http://[::]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::127.0.0.1]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001::1]/',
    'http://[fc00::1]/',
    'http://[fd00:ec2::254]/',
    'http://[fe80::1]/',
    'http://[ff02::1]/',
    'http://localhost/',
    'http://localhost./',
    'http://LOCALHOST/',
    'http://loc%61lhost/',
    'http://metadata.google.internal/',
    'http://metadata.google.internal./',
    'http://rebind.test/',
    'http://six.test/',
    'http://anything.else.test/',
  ])('%s is not reached', async (url) => {
    await expect(clientWith({ resolve, allow: [ALLOWED] }).request({ url })).rejects.toMatchObject({
      name: 'TerminalError',
      code: 'SSRF_BLOCKED',
    });
  });

  it('the error does not reveal the address of a name', async () => {
    const error = await clientWith({ resolve, allow: [ALLOWED] })
      .request({ url: 'http://rebind.test/' })
      .catch(String);
    expect(error).toContain('rebind.test resolves to a private address');
    expect(error).not.toContain('10.0.0.5');
  });

  it('one refused address among several refuses the name', async () => {
    const mixed = () => answers('127.0.0.1', '169.254.169.254');
    const request = local({ resolve: mixed }).request({ url: 'http://mixed.test/' });
    await expect(request).rejects.toMatchObject({ code: 'SSRF_BLOCKED' });
  });

  it('a name is resolved once for each connection, and a second answer is not used', async () => {
    const url = await servers.http((request, response) =>
      response.setHeader('connection', 'close').end(request.headers.host),
    );
    const port = new URL(url).port;
    let asked = 0;
    const changing = () => {
      asked += 1;
      return asked === 1 ? answers('127.0.0.1') : answers('10.0.0.5');
    };
    const client = local({ resolve: changing });
    const first = await client.request({ url: `http://rebinding.test:${port}/` });
    expect(first.body.toString()).toBe(`rebinding.test:${port}`);
    expect(asked).toBe(1);
    await expect(client.request({ url: `http://rebinding.test:${port}/` })).rejects.toMatchObject({
      code: 'SSRF_BLOCKED',
    });
    expect(asked).toBe(2);
  });

  it('an allowed host is reached, and another name of the same address is not', async () => {
    const url = await servers.http((_request, response) => response.end('inside'));
    const { port } = new URL(url);
    const client = clientWith({ allow: ['crm.internal'], resolve: () => answers('127.0.0.1') });
    expect((await client.request({ url: `http://crm.internal:${port}/` })).body.toString()).toBe('inside');
    await expect(client.request({ url: `http://other.internal:${port}/` })).rejects.toMatchObject({
      code: 'SSRF_BLOCKED',
    });
    await expect(client.request({ url })).rejects.toMatchObject({ code: 'SSRF_BLOCKED' });
  });

  it.each([
    'http://169.254.169.254/',
    'http://[::ffff:10.0.0.1]/',
    'http://0xa9fea9fe/',
    '//10.0.0.1/',
    'file:///etc/passwd',
    'http://user:pass@127.0.0.1/',
  ])('a redirect to %s is not followed', async (location) => {
    const url = await servers.http((_request, response) => response.writeHead(302, { location }).end());
    await expect(local().request({ url, maxRedirects: 5 })).rejects.toMatchObject({ code: 'SSRF_BLOCKED' });
  });
});
