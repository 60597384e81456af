// Maps errors of Slack's client to what the engine does next. Slack answers 200 with `ok: false` and a word for the problem; only
// rate limits and its own outages have a status.

import { isRetryableError, isTerminalError, RetryableError } from '../../core/error/error.ts';
import { errorOfAnswer, type RemoteFailure, remoteError, unreadable } from '../remote-failure.ts';

const system = 'Slack';

export async function slackError(method: string, thrown: unknown): Promise<Error> {
  const { WebAPIHTTPError, WebAPIPlatformError, WebAPIRateLimitedError, WebAPIRequestError } = await import(
    '@slack/web-api'
  );
  if (thrown instanceof WebAPIPlatformError) return platformError(method, thrown.data);
  if (thrown instanceof WebAPIRateLimitedError) {
    return remoteError({ system, detail: method, retryAfterMs: thrown.retryAfter * 1000 }, 'rateLimited');
  }
  if (thrown instanceof WebAPIHTTPError) {
    const { statusCode: status } = thrown;
    return errorOfAnswer({ system, status, detail: `${method} answered ${status}` });
  }
  if (thrown instanceof WebAPIRequestError) return requestError(method, thrown.original);
  // A 429 without a usable Retry-After is a plain error.
  return remoteError({ system, detail: method }, 'rateLimited');
}

function requestError(method: string, original: Error): Error {
  if (isTerminalError(original) || isRetryableError(original)) return original;
  return new RetryableError('NETWORK_ERROR', `Slack could not be reached for ${method}: ${original.name}`);
}

interface PlatformAnswer {
  readonly error: unknown;
  readonly needed?: unknown;
  readonly response_metadata?: { readonly messages?: readonly string[]; readonly retryAfter?: number };
}

function platformError(method: string, answer: PlatformAnswer): Error {
  const { error, needed, response_metadata: metadata = {} } = answer;
  // The client puts the whole body here when it is not JSON.
  if (typeof error !== 'string' || !/^\w{1,100}$/.test(error)) return unreadable(system);
  const hints = [...(typeof needed === 'string' ? [`needed: ${needed}`] : []), ...(metadata.messages ?? [])];
  const detail = `${method}: ${error}${hints.length === 0 ? '' : ` (${hints.join('; ')})`}`;
  const retryAfterMs = metadata.retryAfter === undefined ? undefined : metadata.retryAfter * 1000;
  return remoteError({ system, detail, retryAfterMs }, failureOf(error));
}

const FAILURES: Readonly<Record<string, RemoteFailure>> = {
  ratelimited: 'rateLimited',
  rate_limited: 'rateLimited',
  message_limit_exceeded: 'rateLimited',
  internal_error: 'failed',
  fatal_error: 'failed',
  service_unavailable: 'failed',
  request_timeout: 'failed',
  team_added_to_org: 'failed',
  not_authed: 'credentialRefused',
  invalid_auth: 'credentialRefused',
  access_denied: 'credentialRefused',
  account_inactive: 'credentialRefused',
  token_expired: 'credentialRefused',
  token_revoked: 'credentialRefused',
  no_permission: 'credentialRefused',
  missing_scope: 'credentialRefused',
  not_allowed_token_type: 'credentialRefused',
  ekm_access_denied: 'credentialRefused',
  org_login_required: 'credentialRefused',
  channel_not_found: 'notFound',
  message_not_found: 'notFound',
  thread_not_found: 'notFound',
  user_not_found: 'notFound',
};

function failureOf(error: string): RemoteFailure {
  return Object.hasOwn(FAILURES, error) ? FAILURES[error]! : 'refused';
}
