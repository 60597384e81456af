import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TerminalError } from '../core/error/error.ts';
import { actionThat, expectFailure, expectSuccess, runAction } from './attempt.testing.ts';
import { bareCredential } from './credential.ts';
import { REDACTED, Redactor } from './redact.ts';

const secrets = fc.string({ minLength: 8, maxLength: 60, unit: 'binary' }).filter((text) => text.isWellFormed());
const around = fc.string({ maxLength: 20, unit: 'binary' }).filter((text) => text.isWellFormed());

describe('a redacted text', () => {
  it.each([
    ['as it is', (text: string) => text],
    ['behind Bearer', (text: string) => `Bearer ${text}`],
    ['in JSON', (text: string) => JSON.stringify({ text })],
    ['percent-encoded', (text: string) => `?q=${encodeURIComponent(text)}`],
    ['in a form', (text: string) => new URLSearchParams({ text }).toString()],
    ['in hex', (text: string) => Buffer.from(text).toString('hex')],
    ['in base64', (text: string) => Buffer.from(text).toString('base64')],
    ['in base64url', (text: string) => Buffer.from(text).toString('base64url')],
  ])('a redacted text does not hold the secret %s', (_, encode) => {
    fc.assert(
      fc.property(secrets, (secret) => {
        const redacted = new Redactor([secret]).redact(encode(secret));
        expect(redacted).toContain(REDACTED);
        expect(redacted).not.toContain(secret);
      }),
    );
  });

  it('a redacted base64 text does not reveal a secret that is part of it', () => {
    fc.assert(
      fc.property(secrets, around, around, (secret, before, after) => {
        const encoded = Buffer.from(before + secret + after).toString('base64');
        const redacted = new Redactor([secret]).redact(encoded);
        expect(redacted).toContain(REDACTED);
        expect(Buffer.from(redacted, 'base64').includes(Buffer.from(secret))).toBe(false);
      }),
    );
  });

  it('a redacted JSON text stays JSON, for any secret', () => {
    fc.assert(
      fc.property(secrets, fc.jsonValue(), (secret, value) => {
        const text = JSON.stringify({ value, echoed: secret, [secret]: 1 });
        const redacted = new Redactor([secret, '12345']).redactJson(text);
        expect(JSON.parse(redacted)).toMatchObject({ echoed: REDACTED });
        expect(redacted).not.toContain(JSON.stringify(secret));
      }),
    );
    expect(new Redactor(['12345678']).redactJson('{"pin":12345678,"n":1}')).toBe(`{"pin":"${REDACTED}","n":1}`);
  });

  it('a text without a secret is not changed', () => {
    const text = '{"a": 1}';
    expect(new Redactor(['something else']).redactJson(text)).toBe(text);
  });
});

describe('an action that echoes its credential', () => {
  const context = { credential: bareCredential('canary-value') };
  const echo = actionThat(({ credential, log }) => {
    log.info(`using ${credential!.token}`, { token: credential!.token });
    return {
      outputs: { sent: `Bearer ${credential!.token}`, basic: btoa(`ada:${credential!.token}`) },
      resourceLinks: [{ system: 's', resourceType: 't', resourceId: '1', url: `https://x/?k=${credential!.token}` }],
    };
  });

  it('a credential appears in no output, link or log line', async () => {
    const result = expectSuccess(await runAction(echo, {}, { context }));
    expect(result.outputs).toMatchObject({ sent: `Bearer ${REDACTED}` });
    expect(JSON.stringify(result)).not.toContain('canary');
    expect(JSON.stringify(result)).not.toContain(btoa('ada:canary-value').slice(6, 18));
  });

  it('a credential appears in no error', async () => {
    const failing = actionThat(({ credential }) => {
      throw new TerminalError('NO', `refused ${credential!.token}`, { outputs: { key: credential!.token! } });
    });
    expect(JSON.stringify(expectFailure(await runAction(failing, {}, { context })))).not.toContain('canary');
  });
});
