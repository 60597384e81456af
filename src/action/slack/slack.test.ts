import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Attempts, attemptsOf } from '../../../test/standin/attempts.ts';
import { type SlackStandin, slackStandin } from '../../../test/standin/slack-standin.ts';
import { expectFailure, expectSuccess } from '../attempt.testing.ts';
import { slackActions } from './slack-actions.ts';

const TOKEN = 'xoxb-canary-4f2a9c';
const hello = { channelId: 'C1', message: 'Hello' };

let slack: SlackStandin;
let attempts: Attempts;

beforeAll(async () => {
  slack = await slackStandin({ token: TOKEN, channels: ['C1', 'C2'] });
  attempts = attemptsOf(slackActions({ baseUrl: `${slack.url}/api` }), { slack: TOKEN });
});
beforeEach(() => {
  slack.messages.length = 0;
  slack.requests.length = 0;
  slack.missingScopes.clear();
});
afterAll(async () => {
  await attempts.close();
  await slack.close();
});

describe('slack.post-message', () => {
  it('slack.post-message posts, and links the message by channel and ts', async () => {
    const result = expectSuccess(await attempts.run('slack.post-message', hello));
    const { ts } = slack.messages[0]!;
    const permalink = `https://example.slack.com/archives/C1/p${ts.replace('.', '')}`;
    expect(result.outputs).toEqual({ channel: 'C1', ts, permalink });
    expect(result.resourceLinks).toEqual([
      { system: 'slack', resourceType: 'message', resourceId: `C1:${ts}`, url: permalink },
    ]);
    expect(slack.messages).toMatchObject([{ channel: 'C1', text: 'Hello' }]);
  });

  it('slack.post-message replies in a thread, with blocks', async () => {
    const first = expectSuccess(await attempts.run('slack.post-message', hello));
    const { ts } = first.outputs as { ts: string };
    const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: '*Hi*' } }];
    expectSuccess(await attempts.run('slack.post-message', { ...hello, threadTs: ts, blocks }));
    expect(slack.messages[1]).toMatchObject({ thread_ts: ts, blocks });
  });

  it('slack.post-message names the user it acts for, encoded for a header', async () => {
    const principal = { userId: 'U123', displayName: 'Zoë', email: 'zoe@example.com' };
    expectSuccess(await attempts.run('slack.post-message', hello, { principal, correlationId: 'corr-1' }));
    expect(slack.requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      'x-acting-user-id': 'U123',
      'x-acting-user-name': 'Zo%C3%AB',
      'x-acting-user-email': 'zoe@example.com',
      'x-correlation-id': 'corr-1',
    });
  });

  it('a principal without an email address sends no email header', async () => {
    const principal = { userId: 'system', displayName: 'System', email: null };
    expectSuccess(await attempts.run('slack.post-message', hello, { principal }));
    expect(slack.requests[0]?.headers).not.toHaveProperty('x-acting-user-email');
  });

  it('a posted message counts as posted even if its link is not available', async () => {
    slack.inject({ kind: 'answer', matching: 'getPermalink', answer: { status: 500, body: 'oops' } });
    const result = expectSuccess(await attempts.run('slack.post-message', hello));
    expect(result.outputs).toEqual({ channel: 'C1', ts: slack.messages[0]?.ts });
    expect(result.logs[0]?.message).toContain('its link is not known');
  });

  it('invalid parameters are refused before anything is sent', async () => {
    const { error } = expectFailure(await attempts.run('slack.post-message', { channelId: 'C1', text: 'Hello' }));
    expect(error).toMatchObject({ code: 'PARAMETERS_INVALID', message: expect.stringContaining('parameters.message') });
    expect(slack.requests).toEqual([]);
  });
});

describe('retries of slack.post-message', () => {
  it('a retry after a lost response does not post twice', async () => {
    slack.inject({ kind: 'loseAnswer', matching: 'chat.postMessage' });
    const lost = expectFailure(await attempts.run('slack.post-message', hello));
    expect(lost).toMatchObject({ retryable: true, error: { code: 'NETWORK_ERROR' } });
    const again = expectSuccess(await attempts.run('slack.post-message', hello, { attempt: 2 }));
    expect(slack.messages).toHaveLength(1);
    expect(again.outputs).toMatchObject({ ts: slack.messages[0]?.ts });
  });

  it('a retry in a thread does not post twice', async () => {
    const first = expectSuccess(await attempts.run('slack.post-message', hello, { idempotencyKey: 'first' }));
    const reply = { ...hello, threadTs: (first.outputs as { ts: string }).ts };
    slack.inject({ kind: 'loseAnswer', matching: 'chat.postMessage' });
    expectFailure(await attempts.run('slack.post-message', reply));
    expectSuccess(await attempts.run('slack.post-message', reply, { attempt: 2 }));
    expect(slack.messages).toHaveLength(2);
  });

  it('the same message of another node is posted again', async () => {
    expectSuccess(await attempts.run('slack.post-message', hello, { idempotencyKey: 'e1:a' }));
    expectSuccess(await attempts.run('slack.post-message', hello, { idempotencyKey: 'e1:b', attempt: 2 }));
    expect(slack.messages).toHaveLength(2);
  });

  it('a token without read access posts again, and logs the reason', async () => {
    slack.missingScopes.add('channels:history');
    const result = expectSuccess(await attempts.run('slack.post-message', hello, { attempt: 2 }));
    expect(slack.messages).toHaveLength(1);
    expect(result.logs[0]?.message).toMatch(/cannot be told whether .* missing_scope \(needed: channels:history\)/);
  });
});

describe('slack.update-message', () => {
  it('slack.update-message replaces the text', async () => {
    const { outputs } = expectSuccess(await attempts.run('slack.post-message', hello));
    const { ts } = outputs as { ts: string };
    const updated = await attempts.run('slack.update-message', { channelId: 'C1', ts, message: 'Bye' });
    expect(expectSuccess(updated).outputs).toEqual({ channel: 'C1', ts });
    expect(slack.messages[0]?.text).toBe('Bye');
  });

  it('slack.update-message for an unknown message is a final error', async () => {
    const missing = { channelId: 'C1', ts: '1.2', message: 'Bye' };
    expect(expectFailure(await attempts.run('slack.update-message', missing))).toMatchObject({
      retryable: false,
      error: { code: 'RESOURCE_NOT_FOUND' },
    });
  });
});

describe('errors of Slack', () => {
  const failure = async (context = {}) => expectFailure(await attempts.run('slack.post-message', hello, context));
  const platform = (error: string, more = {}) => ({ status: 200, body: { ok: false, error, ...more } });

  it.each([
    ['a 429', { status: 429, headers: { 'retry-after': '7' }, body: 'slow down' }, 'RATE_LIMITED', 7000],
    ['a 429 that does not say how long', { status: 429, body: 'slow down' }, 'RATE_LIMITED', undefined],
    ['ratelimited', platform('ratelimited'), 'RATE_LIMITED', undefined],
    ['its own breakdown', platform('internal_error'), 'REMOTE_FAILED', undefined],
    ['a 503', { status: 503, body: 'down' }, 'REMOTE_FAILED', undefined],
    ['a page instead of JSON', { status: 200, body: '<html>' }, 'RESPONSE_INVALID', undefined],
    ['an answer without a ts', { status: 200, body: { ok: true } }, 'RESPONSE_INVALID', undefined],
  ])('%s is retried', async (_what, answer, code, retryAfterMs) => {
    slack.inject({ kind: 'answer', answer });
    const failed = await failure();
    expect(failed).toMatchObject({ retryable: true, error: { code } });
    expect(failed.retryAfterMs).toBe(retryAfterMs);
    expect(slack.requests).toHaveLength(1);
  });

  it.each([
    ['invalid_auth', 'CREDENTIAL_REFUSED'],
    ['missing_scope', 'CREDENTIAL_REFUSED'],
    ['channel_not_found', 'RESOURCE_NOT_FOUND'],
    ['msg_too_long', 'REQUEST_REFUSED'],
    ['constructor', 'REQUEST_REFUSED'],
  ])('%s is final', async (error, code) => {
    slack.inject({ kind: 'answer', answer: platform(error) });
    expect(await failure()).toMatchObject({ retryable: false, error: { code } });
  });

  it('the error contains the error code of Slack', async () => {
    const unknown = { channelId: 'C9', message: 'Hello' };
    const { error } = expectFailure(await attempts.run('slack.post-message', unknown));
    expect(error.message).toBe('Slack did not find it: chat.postMessage: channel_not_found');
  });

  it('a request to Slack that hangs ends with the attempt', async () => {
    slack.inject({ kind: 'hang' });
    const controller = new AbortController();
    const arrived = slack.nextRequest();
    const running = failure({ signal: controller.signal });
    await arrived;
    controller.abort(new Error('cancelled'));
    expect(await running).toMatchObject({ aborted: true, error: { code: 'CANCELLED' } });
    await slack.abandoned;
  });

  it('a missing Slack token is reported with the variable to set', async () => {
    const { error, retryable } = await failure({ credentials: { token: () => undefined } });
    expect(retryable).toBe(false);
    expect(error).toEqual({
      code: 'CREDENTIAL_MISSING',
      message:
        'The connector "slack" has no credential. Create one (`pawl connections create my-slack --connector slack --kind token --default --secrets -`), or set CONNECTOR_SLACK_TOKEN (for the default tenant)',
    });
  });

  it('a token repeated by the server appears in no error or log (S6)', async () => {
    slack.inject(
      { kind: 'answer', answer: platform('msg_blocked', { response_metadata: { messages: [`[ERROR] ${TOKEN}`] } }) },
      {
        kind: 'answer',
        answer: platform('ok', { ok: true, ts: '1.1', channel: 'C1', response_metadata: { warnings: [TOKEN] } }),
      },
    );
    const failed = await failure();
    expect(failed.error.message).toContain('[redacted]');
    const posted = expectSuccess(await attempts.run('slack.post-message', hello));
    expect(posted.logs[0]?.message).toBe('[redacted]');
    expect(JSON.stringify([failed, posted])).not.toContain(TOKEN);
  });
});
