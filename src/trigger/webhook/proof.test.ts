import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Verification } from '../../core/definition/webhook-schema.ts';
import { JwtCheck } from './jwt.ts';
import { type Proof, prove } from './proof.ts';
import { sampleFor } from './sample.ts';

const NOW = 1_531_420_618_000;
const deps = { jwt: new JwtCheck(() => Promise.reject(new Error('no keys here'))), now: () => NOW };
const STANDARD_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const SCHEMES: readonly Verification[] = [
  'standard',
  'github',
  'stripe',
  'slack',
  'shopify',
  { hmac: { header: 'X-Sign' } },
  { hmac: { header: 'X-Sign', algorithm: 'sha1', encoding: 'base64', prefix: 'sha1=' } },
  { hmac: { header: 'X-Sign', algorithm: 'sha512', encoding: 'base64url', timestampHeader: 'X-Time', toleranceS: 30 } },
  { hmac: { header: 'X-Sign', timestampHeader: 'X-Time', content: 'v0:{timestamp}:{body}!' } },
];

const secretFor = (verification: Verification) => (verification === 'standard' ? STANDARD_SECRET : 'a secret');
const at = (now: number) => ({ ...deps, now: () => now });

function signed(verification: Verification, body: Buffer, secret = secretFor(verification)) {
  const { headers, query } = sampleFor(verification, secret, body, { id: 'delivery-1', now: NOW })!;
  return { headers, query, rawBody: body };
}

const isProven = (proof: Proof): boolean => proof.ok;

describe.each(SCHEMES.map((scheme) => [JSON.stringify(scheme), scheme] as const))(
  'a body signed by %s',
  (_, scheme) => {
    it('a signed body is proven by the current secret and by the previous one', async () => {
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), async (bytes) => {
          const request = signed(scheme, Buffer.from(bytes));
          expect(await prove(scheme, [secretFor(scheme)], request, deps)).toMatchObject({ ok: true });
          expect(
            await prove(scheme, [secretFor(scheme).replace('a', 'b'), secretFor(scheme)], request, deps),
          ).toMatchObject({
            ok: true,
          });
        }),
        { numRuns: 30 },
      );
    });

    it('a signed body is refused when one byte of it changes', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.uint8Array({ minLength: 1, maxLength: 200 }),
          fc.nat(),
          fc.integer({ min: 1, max: 255 }),
          async (bytes, where, flip) => {
            const request = signed(scheme, Buffer.from(bytes));
            const rawBody = Buffer.from(bytes);
            rawBody[where % rawBody.length]! ^= flip;
            expect(isProven(await prove(scheme, [secretFor(scheme)], { ...request, rawBody }, deps))).toBe(false);
          },
        ),
        { numRuns: 30 },
      );
    });

    it('a signed body is refused without its headers, with another secret, and without any secret', async () => {
      const request = signed(scheme, Buffer.from('{}'));
      const other = scheme === 'standard' ? 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' : 'another';
      expect(isProven(await prove(scheme, [secretFor(scheme)], { ...request, headers: {} }, deps))).toBe(false);
      expect(isProven(await prove(scheme, [other], request, deps))).toBe(false);
      expect(await prove(scheme, [], request, deps)).toMatchObject({
        ok: false,
        reason: expect.stringContaining('no secret'),
      });
    });
  },
);

it.each(['standard', 'stripe', 'slack', SCHEMES[7]!] as const)(
  'a signature of %j is valid only within its tolerance',
  async (scheme) => {
    const request = signed(scheme, Buffer.from('{}'));
    const tolerance = typeof scheme === 'object' ? 30_000 : 300_000;
    const proofAt = (now: number) => prove(scheme, [secretFor(scheme)], request, at(now));
    for (const shift of [tolerance, -tolerance]) expect(await proofAt(NOW + shift)).toMatchObject({ ok: true });
    for (const shift of [tolerance + 1000, -tolerance - 1000]) {
      expect(await proofAt(NOW + shift)).toMatchObject({ ok: false, expired: true });
    }
  },
);

it.each(
  SCHEMES.flatMap((scheme) =>
    (['sha1', 'sha256', 'sha384', 'sha512', 'md5'] as const).map(
      (algorithm) => [JSON.stringify(scheme), algorithm, scheme] as const,
    ),
  ),
)(
  'for the scheme %s, a MAC by %s is accepted only if it is the algorithm of the scheme',
  async (_, algorithm, scheme) => {
    const right = typeof scheme === 'object' && 'hmac' in scheme ? (scheme.hmac.algorithm ?? 'sha256') : 'sha256';
    const request = signed(scheme, Buffer.from('{}'));
    const [name, header] = Object.entries(request.headers).find(([name]) => /sign|hmac/i.test(name))!;
    const [, prefix, mac] = /^(t=\d+,v1=|v1,|v0=|sha256=|sha1=|)(.*)$/.exec(header)!;
    // The right length for another algorithm, with the right first bytes.
    const bytes = createHmac(algorithm, 'x').digest();
    const encoding = /^[0-9a-f]+$/.test(mac!) ? 'hex' : 'base64';
    Buffer.from(mac!, encoding).copy(bytes);
    const headers = { ...request.headers, [name]: `${prefix}${algorithm === right ? mac : bytes.toString(encoding)}` };
    const proof = await prove(scheme, [secretFor(scheme)], { ...request, headers }, deps);
    expect(proof.ok).toBe(algorithm === right);
  },
);

it('a signature sent twice under one header name is refused when the scheme allows one', async () => {
  for (const scheme of ['github', 'shopify', 'slack', SCHEMES[5]!] as const) {
    const request = signed(scheme, Buffer.from('{}'));
    const [name, header] = Object.entries(request.headers).find(([name]) => /sign|hmac/i.test(name))!;
    // As HTTP joins them.
    const headers = { ...request.headers, [name]: `${header}, ${header}` };
    expect(isProven(await prove(scheme, [secretFor(scheme)], { ...request, headers }, deps))).toBe(false);
  }
});

describe('published examples', () => {
  it('the published example of GitHub is proven', async () => {
    const signature = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
    const headers = { 'x-hub-signature-256': `sha256=${signature}` };
    const request = { rawBody: Buffer.from('Hello, World!'), headers, query: {} };
    expect(await prove('github', ["It's a Secret to Everybody"], request, deps)).toEqual({ ok: true, seal: signature });
    const asSha1 = { ...request, headers: { 'x-hub-signature-256': `sha1=${signature}` } };
    expect(await prove('github', ["It's a Secret to Everybody"], asSha1, deps)).toMatchObject({ ok: false });
  });

  it('the published example of Slack is proven', async () => {
    const body =
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
    const headers = {
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
      'x-slack-request-timestamp': '1531420618',
    };
    const request = { rawBody: Buffer.from(body), headers, query: {} };
    expect(await prove('slack', ['8f742231b10e8888abcd99yyyzzz85a5'], request, deps)).toMatchObject({ ok: true });
  });

  it('the published example of Standard Webhooks is proven', async () => {
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    const request = { rawBody: Buffer.from('{"test": 2432232314}'), headers, query: {} };
    const proof = await prove('standard', [STANDARD_SECRET], request, at(1_614_265_330_000));
    expect(proof).toMatchObject({ ok: true });
  });
});

describe('verification without a signature', () => {
  const ask = (verification: Verification, headers: Record<string, string>, query: Record<string, string> = {}) =>
    prove(verification, ['new', 'old'], { rawBody: Buffer.from('{}'), headers, query }, deps).then(isProven);

  it('a token in a header is accepted, with or without Bearer', async () => {
    expect(await ask({ token: { header: 'X-Token' } }, { 'x-token': 'old' })).toBe(true);
    expect(await ask({ token: { header: 'X-Token' } }, { 'x-token': 'new, new' })).toBe(false);
    expect(await ask({ token: { header: 'Authorization' } }, { authorization: 'Bearer new' })).toBe(true);
    expect(await ask({ token: { header: 'Authorization' } }, { authorization: '' })).toBe(false);
  });

  it('a token in the query is accepted', async () => {
    expect(await ask({ token: { query: 'key' } }, {}, { key: 'new' })).toBe(true);
    expect(await ask({ token: { query: 'key' } }, {}, { key: 'newer' })).toBe(false);
    expect(await ask({ token: { query: 'key' } }, { key: 'new' })).toBe(false);
  });

  it('a user name and a password are accepted', async () => {
    const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
    expect(await ask({ basic: { username: 'ada' } }, basic('ada:old'))).toBe(true);
    expect(await ask({ basic: { username: 'ada' } }, basic('bob:old'))).toBe(false);
    expect(await ask({ basic: { username: 'ada' } }, { authorization: 'Bearer old' })).toBe(false);
  });
});
