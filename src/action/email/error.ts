// What the mail client threw, by what the engine does next: 4xx replies are asked to be tried again, 5xx are final, and
// what has no reply at all is the network.

import { isRetryableError, isTerminalError, RetryableError } from '../../core/error/error.ts';
import { type RemoteFailure, remoteError } from '../remote-failure.ts';

const system = 'The mail server';

export function smtpError(thrown: unknown): Error {
  if (isTerminalError(thrown) || isRetryableError(thrown)) return thrown;
  const { code, responseCode, response } = (thrown ?? {}) as Record<string, unknown>;
  const reason = typeof code === 'string' ? code : 'unknown error';
  if (typeof responseCode === 'number') {
    const detail = typeof response === 'string' ? response : `it replied ${responseCode}`;
    return remoteError({ system, detail }, failureOf(responseCode, reason));
  }
  if (reason === 'EAUTH') return remoteError({ system, detail: 'it offers no way to log in' }, 'credentialRefused');
  if (reason === 'EENVELOPE' || reason === 'EMESSAGE') {
    return remoteError({ system, detail: messageOf(thrown) }, 'refused');
  }
  return new RetryableError('NETWORK_ERROR', `The mail server could not be reached: ${reason}`);
}

const REFUSED_LOGIN = new Set([530, 534, 535, 538]);
/** No such mailbox, in its three forms. */
const NO_MAILBOX = new Set([550, 551, 553]);

function failureOf(reply: number, reason: string): RemoteFailure {
  if (reply < 500) return reply === 421 || reply === 450 || reply === 452 ? 'rateLimited' : 'failed';
  if (REFUSED_LOGIN.has(reply) || reason === 'EAUTH') return 'credentialRefused';
  return NO_MAILBOX.has(reply) ? 'notFound' : 'refused';
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : 'no reason given';
}
