// Slack's Web API as far as the connector uses it: form-encoded POSTs with a bearer token, and 200 with `ok: false` for every
// error. It ignores `client_msg_id`, whose effect Slack does not document, so that retries cannot rely on it.

import { type HttpStandin, httpStandin, type StandinAnswer, type StandinRequest } from './http-standin.ts';

interface SlackMessage {
  ts: string;
  channel: string;
  text: string;
  thread_ts?: string;
  blocks?: unknown;
  metadata?: unknown;
}

export interface SlackStandin extends HttpStandin {
  readonly messages: SlackMessage[];
  /** Scopes that the token lacks. */
  readonly missingScopes: Set<string>;
}

export interface SlackStandinOptions {
  readonly token: string;
  readonly channels: readonly string[];
}

export async function slackStandin({ token, channels }: SlackStandinOptions): Promise<SlackStandin> {
  const messages: SlackMessage[] = [];
  let posted = 0;
  // A timestamp is never used twice, even after a test has removed the messages.
  const nextTs = () => {
    posted += 1;
    return `17${String(posted).padStart(8, '0')}.000100`;
  };
  const missingScopes = new Set<string>();
  const methods: Record<string, Method> = {
    'chat.postMessage': (form) => post(messages, channels, form, nextTs),
    'chat.update': (form) => update(messages, form),
    'chat.getPermalink': (form) => permalink(messages, form),
    'conversations.history': (form) => history(messages, channels, form, false),
    'conversations.replies': (form) => history(messages, channels, form, true),
  };

  const server = await httpStandin((request) => {
    const name = /^\/api\/([\w.]+)$/.exec(request.url.pathname)?.[1] ?? '';
    const refusal = refusalOf(request, token);
    if (refusal !== null) return failed(refusal);
    const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
    if (method === undefined) return failed('unknown_method');
    const scope = name.startsWith('chat.') ? 'chat:write' : 'channels:history';
    if (missingScopes.has(scope)) return failed('missing_scope', { needed: scope, provided: 'none' });
    return method(new URLSearchParams(request.body));
  });
  return Object.assign(server, { messages, missingScopes });
}

type Method = (form: URLSearchParams) => StandinAnswer;

const answered = (body: Record<string, unknown>): StandinAnswer => ({ status: 200, body: { ok: true, ...body } });
const failed = (error: string, more: Record<string, unknown> = {}): StandinAnswer => ({
  status: 200,
  body: { ok: false, error, ...more },
});

function refusalOf({ method, headers }: StandinRequest, token: string): string | null {
  if (method !== 'POST') return 'invalid_http_method';
  if (!headers['content-type']?.startsWith('application/x-www-form-urlencoded')) return 'invalid_post_type';
  if (headers.authorization === undefined) return 'not_authed';
  return headers.authorization === `Bearer ${token}` ? null : 'invalid_auth';
}

function post(
  messages: SlackMessage[],
  channels: readonly string[],
  form: URLSearchParams,
  nextTs: () => string,
): StandinAnswer {
  const channel = form.get('channel') ?? '';
  if (!channels.includes(channel)) return failed('channel_not_found');
  const text = form.get('text') ?? '';
  const blocks = jsonOf(form.get('blocks'));
  if (blocks === INVALID || (blocks !== undefined && !Array.isArray(blocks))) return failed('invalid_blocks');
  if (text === '' && blocks === undefined) return failed('no_text');
  const metadata = jsonOf(form.get('metadata'));
  if (metadata !== undefined && !isMetadata(metadata)) return failed('invalid_metadata_format');
  const thread = form.get('thread_ts');
  if (thread !== null && !messages.some(({ ts }) => ts === thread)) return failed('thread_not_found');
  const message: SlackMessage = {
    ts: nextTs(),
    channel,
    text,
    ...(thread === null ? {} : { thread_ts: thread }),
    ...(blocks === undefined ? {} : { blocks }),
    ...(metadata === undefined ? {} : { metadata }),
  };
  messages.push(message);
  return answered({ channel, ts: message.ts, message });
}

function update(messages: SlackMessage[], form: URLSearchParams): StandinAnswer {
  const message = find(messages, form.get('channel'), form.get('ts'));
  if (message === undefined) return failed('message_not_found');
  message.text = form.get('text') ?? message.text;
  const blocks = jsonOf(form.get('blocks'));
  if (blocks === INVALID) return failed('invalid_blocks');
  if (blocks !== undefined) message.blocks = blocks;
  return answered({ channel: message.channel, ts: message.ts, text: message.text });
}

function permalink(messages: SlackMessage[], form: URLSearchParams): StandinAnswer {
  const message = find(messages, form.get('channel'), form.get('message_ts'));
  if (message === undefined) return failed('message_not_found');
  const { channel, ts } = message;
  return answered({ channel, permalink: `https://example.slack.com/archives/${channel}/p${ts.replace('.', '')}` });
}

/** Newest first, and metadata only on request, as Slack does. */
function history(
  messages: readonly SlackMessage[],
  channels: readonly string[],
  form: URLSearchParams,
  isThread: boolean,
): StandinAnswer {
  const channel = form.get('channel') ?? '';
  if (!channels.includes(channel)) return failed('channel_not_found');
  const thread = form.get('ts');
  if (isThread && thread === null)
    return failed('invalid_arguments', { response_metadata: { messages: ['[ERROR] ts'] } });
  const limit = Number(form.get('limit') ?? '100');
  const withMetadata = form.get('include_all_metadata') === 'true';
  const found = messages
    .filter(
      (message) =>
        message.channel === channel && (isThread ? message.thread_ts === thread : message.thread_ts === undefined),
    )
    .toReversed()
    .slice(0, limit)
    .map(({ metadata, ...message }) => (withMetadata && metadata !== undefined ? { ...message, metadata } : message));
  return answered({ messages: found, has_more: false });
}

function find(messages: SlackMessage[], channel: string | null, ts: string | null): SlackMessage | undefined {
  return messages.find((message) => message.channel === channel && message.ts === ts);
}

const INVALID = Symbol('not JSON');

function jsonOf(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return INVALID;
  }
}

function isMetadata(value: unknown): boolean {
  const { event_type: type, event_payload: payload } = (value ?? {}) as Record<string, unknown>;
  return typeof type === 'string' && /^\w+$/.test(type) && typeof payload === 'object' && payload !== null;
}
