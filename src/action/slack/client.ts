// Slack's official client for one attempt, over the guarded HTTP client, so that it stops with the attempt and cannot reach
// private addresses (S5). Its own retries are off (the decider's are durable, its are not), and it logs to our log. The package
// is loaded with the first call, so a process that never posts to Slack does not pay for it.

import type { Logger, LogLevel } from '@slack/web-api';
import type { ActionContext } from '../action.ts';
import { guardedFetch } from '../guarded-fetch.ts';
import { passThroughHeaders } from '../pass-through.ts';
import { requireToken } from '../remote-failure.ts';
import { slackError } from './error.ts';

export interface SlackOptions {
  /** Of the Web API, e.g. `https://slack.com/api/` (the default). */
  readonly baseUrl?: string | undefined;
}

/** Calls one method of the Web API; every failure is a TerminalError or a RetryableError. */
export type CallSlack = (method: string, args: Record<string, unknown>) => Promise<unknown>;

const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

export async function connectSlack({ baseUrl }: SlackOptions, context: ActionContext): Promise<CallSlack> {
  const token = requireToken(context, 'slack');
  const { WebClient } = await import('@slack/web-api');
  const headers = passThroughHeaders(context);
  const client = new WebClient(token, {
    ...(baseUrl === undefined ? {} : { slackApiUrl: baseUrl }),
    fetch: guardedFetch(context.http, { headers, maxBytes: MAX_RESPONSE_BYTES }),
    logger: attemptLogger(context),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
  });
  return async (method, args) => {
    try {
      return await client.apiCall(method, args);
    } catch (thrown) {
      context.signal.throwIfAborted();
      throw await slackError(method, thrown);
    }
  };
}

/** Its debug lines contain whole requests, and its failures are ours to report. */
function attemptLogger({ log }: ActionContext): Logger {
  const level = 'warn' as LogLevel;
  const nothing = (): void => {};
  return {
    debug: nothing,
    info: nothing,
    warn: (...parts) => log.warn(parts.filter((part) => typeof part === 'string').join(': ')),
    error: nothing,
    setLevel: nothing,
    getLevel: () => level,
    setName: nothing,
  };
}
