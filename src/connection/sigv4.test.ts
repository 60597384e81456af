import { describe, expect, it } from 'vitest';
import { isAllowedHost } from './host.ts';
import { signAws } from './sigv4.ts';

const KEY = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
  service: 'service',
};
const AT = new Date('2015-08-30T12:36:00Z');

function signatureOf(url: string, method = 'GET', headers: Record<string, string> = {}, body = ''): string {
  const { authorization } = signAws({ method, url: new URL(url), headers, body }, KEY, AT);
  return /Signature=(\w+)$/.exec(authorization!)![1]!;
}

// The examples of AWS's test suite for Signature Version 4.
describe('a request signed for AWS', () => {
  it('the signature of get-vanilla matches the example of AWS', () => {
    expect(signatureOf('https://example.amazonaws.com/')).toBe(
      '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    );
  });

  it('the signature of get-vanilla-query-order-key-case matches the example of AWS', () => {
    expect(signatureOf('https://example.amazonaws.com/?Param2=value2&Param1=value1')).toBe(
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    );
  });

  it('the signature of post-x-www-form-urlencoded matches the example of AWS', () => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    expect(signatureOf('https://example.amazonaws.com/', 'POST', headers, 'Param1=value1')).toBe(
      'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    );
  });
});

describe('an allowed host', () => {
  it.each([
    ['https://api.example.com/x', ['api.example.com'], true],
    ['https://API.example.com/x', ['api.EXAMPLE.com'], true],
    ['https://a.b.example.com', ['*.example.com'], true],
    ['https://example.com', ['*.example.com'], false],
    ['https://evilexample.com', ['*.example.com'], false],
    ['https://api.example.com.evil.io', ['api.example.com'], false],
    ['https://api.example.com:8443', ['api.example.com:8443'], true],
    ['https://api.example.com', ['api.example.com:8443'], false],
    ['https://api.example.com', ['api.example.com:443'], true],
    ['https://anything', [], true],
  ])('the URL %s is allowed by %j: %s', (url, hosts, allowed) => {
    expect(isAllowedHost(hosts, new URL(url))).toBe(allowed);
  });
});
