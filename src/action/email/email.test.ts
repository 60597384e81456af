import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Attempts, attemptsOf } from '../../../test/standin/attempts.ts';
import { type SmtpStandin, smtpStandin } from '../../../test/standin/smtp-standin.ts';
import type { Json } from '../../core/json/json.ts';
import { attemptContext, expectFailure, expectSuccess } from '../attempt.testing.ts';
import { AttemptScope } from '../attempt-scope.ts';
import { emailActions } from './email-actions.ts';
import { mailServer } from './server.ts';

const PASSWORD = 'mail-canary-4f2a9c';
const FROM = '"Pawl" <pawl@example.com>';
const hello = { to: 'ada@example.com', subject: 'Hello', text: 'Good morning' };

let smtp: SmtpStandin;
let attempts: Attempts;

async function open(user?: string): Promise<void> {
  smtp = await smtpStandin(user === undefined ? {} : { user, password: PASSWORD });
  const smtpUrl = `smtp://${user === undefined ? '' : `${encodeURIComponent(user)}@`}${smtp.host}:${smtp.port}`;
  attempts = attemptsOf(emailActions({ smtpUrl, from: FROM }), { email: PASSWORD });
}
async function close(): Promise<void> {
  await attempts.close();
  await smtp.close();
}
const send = (parameters: Json, context = {}) => attempts.run('email.send', parameters, context);

beforeEach(() => open());
afterEach(close);

describe('email.send', () => {
  it('email.send sends to all recipients, with text and HTML', async () => {
    const message = {
      to: ['ada@example.com', '"Bo" <bo@example.com>'],
      cc: 'cy@example.com',
      bcc: 'di@example.com',
      subject: 'Größe ✅',
      text: 'Plain',
      html: '<b>Rich</b>',
      replyTo: 'help@example.com',
    };
    const { outputs } = expectSuccess(await send(message));
    const [mail] = smtp.mails;
    expect(outputs).toEqual({
      messageId: expect.stringMatching(/^<[0-9a-f]{32}@example\.com>$/),
      accepted: ['ada@example.com', 'bo@example.com', 'cy@example.com', 'di@example.com'],
      rejected: [],
    });
    expect(mail?.from).toBe('pawl@example.com');
    expect(mail?.headers.get('message-id')).toBe((outputs as { messageId: string }).messageId);
    expect(mail?.headers.get('reply-to')).toBe('help@example.com');
    expect(mail?.headers.get('x-correlation-id')).toBe('correlation-1');
    expect(mail?.raw).toContain('<b>Rich</b>');
    expect(mail?.raw).not.toContain('di@example.com');
  });

  it('the sender in the message overrides the configured one', async () => {
    expectSuccess(await send({ ...hello, from: 'sales@acme.com' }));
    expect(smtp.mails[0]?.from).toBe('sales@acme.com');
  });

  it('email.send links the message by its Message-ID', async () => {
    const { outputs, resourceLinks } = expectSuccess(await send(hello));
    const { messageId } = outputs as { messageId: string };
    expect(resourceLinks).toEqual([{ system: 'email', resourceType: 'message', resourceId: messageId }]);
  });

  it('a message counts as sent when only some recipients are refused', async () => {
    const { outputs } = expectSuccess(await send({ ...hello, to: ['ada@example.com', 'nobody@example.com'] }));
    expect(outputs).toMatchObject({ accepted: ['ada@example.com'], rejected: ['nobody@example.com'] });
  });

  it.each([
    [{ ...hello, subject: 'Hello\r\nBcc: eve@example.com' }, 'a subject is one line'],
    [{ ...hello, to: 'ada@example.com\r\nBcc: eve@example.com' }, 'parameters.to'],
    [{ to: 'ada@example.com', subject: 'Empty' }, 'give text, html or both'],
    [{ ...hello, attachments: [{ path: '/etc/hostname' }] }, 'attachments'],
    [{ ...hello, html: { path: '/etc/hostname' } }, 'parameters.html'],
  ])('%j is refused', async (message, reason) => {
    const { error } = expectFailure(await send(message));
    expect(error).toMatchObject({ code: 'PARAMETERS_INVALID', message: expect.stringContaining(reason) });
    expect(smtp.mails).toEqual([]);
  });
});

describe('retries of email.send', () => {
  it('every attempt of a node sends the same message, and another node a different one', async () => {
    const messageId = async (context: { attempt?: number; idempotencyKey?: string }) =>
      (expectSuccess(await send(hello, context)).outputs as { messageId: string }).messageId;
    const first = await messageId({});
    expect(await messageId({ attempt: 2 })).toBe(first);
    expect(await messageId({ idempotencyKey: 'other' })).not.toBe(first);
  });

  it('a message that this node already recorded is not sent again', async () => {
    const { executionId, nodeId } = attemptContext();
    const findResource = async () => ({ executionId, nodeId, url: null });
    expect(expectSuccess(await send(hello, { findResource })).outputs).toMatchObject({ accepted: ['ada@example.com'] });
    expect(smtp.mails).toEqual([]);
  });
});

describe('errors of the mail server', () => {
  it.each([
    [{ ...hello, to: 'busy@example.com' }, true, 'RATE_LIMITED', 'Mailbox busy'],
    [{ ...hello, to: 'nobody@example.com' }, false, 'RESOURCE_NOT_FOUND', 'No such user here'],
  ])('a refused recipient is retried or final by its reply: %j', async (message, retryable, code, reason) => {
    const failed = expectFailure(await send(message));
    expect(failed).toMatchObject({ retryable, error: { code, message: expect.stringContaining(reason) } });
  });

  it.each([
    [451, true, 'REMOTE_FAILED'],
    [421, true, 'RATE_LIMITED'],
    [552, false, 'REQUEST_REFUSED'],
    [554, false, 'REQUEST_REFUSED'],
  ])('the reply %i to a message decides whether it is retried', async (reply, retryable, code) => {
    smtp.refuseNext(reply);
    expect(expectFailure(await send(hello))).toMatchObject({ retryable, error: { code } });
  });

  it('a mail server that cannot be reached is a reason to retry', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    const nowhere = attemptsOf(emailActions({ smtpUrl: `smtp://127.0.0.1:${port}`, from: FROM }), {});
    expect(expectFailure(await nowhere.run('email.send', hello))).toMatchObject({
      retryable: true,
      error: { code: 'NETWORK_ERROR', message: expect.stringContaining('ECONNREFUSED') },
    });
    await nowhere.close();
  });

  it('a silent mail server ends with the attempt, and the connection closes', async () => {
    const gone = smtp.hangNext();
    const controller = new AbortController();
    const running = send(hello, { signal: controller.signal });
    await smtp.hanging;
    controller.abort(new Error('cancelled'));
    expect(expectFailure(await running)).toMatchObject({ aborted: true });
    await gone;
  });
});

describe('logging in', () => {
  it('email.send logs in with the user of the URL and the token', async () => {
    await close();
    await open('pawl@example.com');
    expectSuccess(await send(hello));
    expect(smtp.mails[0]?.user).toBe('pawl@example.com');
  });

  it('a wrong password is final, and does not appear in the message (S6)', async () => {
    await close();
    await open('pawl');
    const failed = expectFailure(await send(hello, { credentials: { token: () => 'wrong-canary' } }));
    expect(failed).toMatchObject({ retryable: false, error: { code: 'CREDENTIAL_REFUSED' } });
    expect(JSON.stringify(failed)).not.toContain('wrong-canary');
  });

  it('a certificate of an unknown authority is not trusted', async () => {
    const secure = await smtpStandin({ secure: true });
    const smtpUrl = `smtps://${secure.host}:${secure.port}`;
    const strict = attemptsOf(emailActions({ smtpUrl, from: FROM }), {});
    expect(expectFailure(await strict.run('email.send', hello)).error.code).toBe('NETWORK_ERROR');
    expect(secure.mails).toEqual([]);
    await strict.close();
    await secure.close();
  });
});

describe('the mail settings', () => {
  const server = (smtpUrl: string | undefined, tokens: { email?: string } = { email: PASSWORD }) =>
    mailServer({ smtpUrl }, new AttemptScope(attemptContext({ credentials: { token: () => tokens.email } })));

  it.each([
    ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, secure: false, requireTLS: false }],
    ['smtps://mail.example.com', { host: 'mail.example.com', port: 465, secure: true, requireTLS: false }],
    ['smtp://[::1]:2525', { host: '::1', port: 2525, secure: false, requireTLS: false }],
  ])('the URL %s is read as a mail server', (url, expected) => {
    expect(server(url)).toEqual(expected);
  });

  it('a password is sent over TLS only, except on this machine', () => {
    expect(server('smtp://a%40b.c@mail.example.com')).toMatchObject({
      requireTLS: true,
      auth: { user: 'a@b.c', pass: PASSWORD },
    });
    expect(server('smtp://pawl@localhost:2525')).toMatchObject({ requireTLS: false });
  });

  it.each([
    [undefined, 'set PAWL_CONNECTORS_EMAIL_SMTP_URL'],
    ['mail.example.com', 'not smtp://user@host:port'],
    ['https://mail.example.com', 'not smtp://user@host:port'],
    [`smtp://pawl:${PASSWORD}@mail.example.com`, 'set CONNECTOR_EMAIL_TOKEN instead'],
  ])('the URL %s is refused, with the reason and without the secret', (url, reason) => {
    expect(() => server(url)).toThrow(reason);
    expect(() => server(url)).not.toThrow(PASSWORD);
  });

  it('a user without a password is reported with the variable to set', () => {
    expect(() => server('smtp://pawl@mail.example.com', {})).toThrow('CONNECTOR_EMAIL_TOKEN');
  });

  it('a message without a sender is reported with the variable to set', async () => {
    const bare = attemptsOf(emailActions({ smtpUrl: 'smtp://127.0.0.1:1' }), {});
    expect(expectFailure(await bare.run('email.send', hello)).error).toMatchObject({
      code: 'CONNECTOR_NOT_CONFIGURED',
      message: expect.stringContaining('PAWL_CONNECTORS_EMAIL_FROM'),
    });
    await bare.close();
  });
});
