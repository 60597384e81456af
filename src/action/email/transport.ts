// Hands one message to the mail server. The socket is ours, so that it closes when the attempt stops, at any point of the
// conversation. Files and URLs are never read on behalf of a message.

import { connect, type Socket } from 'node:net';
import type { SendMailOptions } from 'nodemailer';
import type { SMTPTransportGetSocket } from 'nodemailer/lib/smtp-transport';
import { isRetryableError, isTerminalError, RetryableError } from '../../core/error/error.ts';
import type { ActionContext } from '../action.ts';
import { type RemoteFailure, remoteError } from '../remote-failure.ts';
import type { MailServer } from './server.ts';

export interface Delivered {
  readonly accepted: string[];
  readonly rejected: string[];
}

const CONNECT_TIMEOUT_MS = 10_000;
const TIMEOUTS = { greetingTimeout: 10_000, socketTimeout: 60_000 };
const NO_READING = { disableFileAccess: true, disableUrlAccess: true };

export async function deliver(
  server: MailServer,
  message: SendMailOptions,
  { signal, correlationId }: Pick<ActionContext, 'signal' | 'correlationId'>,
): Promise<Delivered> {
  const { createTransport } = await import('nodemailer');
  signal.throwIfAborted();
  const socket = connect({ host: server.host, port: server.port });
  const stop = (): void => void socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const transport = createTransport({ ...server, ...TIMEOUTS, ...NO_READING, getSocket: socketSource(socket) });
    const headers = { 'X-Correlation-Id': correlationId };
    const { accepted, rejected } = await transport.sendMail({ ...message, headers });
    return { accepted: accepted.map(textOf), rejected: rejected.map(textOf) };
  } catch (thrown) {
    signal.throwIfAborted();
    throw smtpError(thrown);
  } finally {
    signal.removeEventListener('abort', stop);
    socket.destroy();
  }
}

function socketSource(socket: Socket): SMTPTransportGetSocket {
  const opened = whenOpen(socket);
  // The mail client asks for it later; until then nobody would notice a failure.
  opened.catch(() => {});
  return (_options, done) => {
    opened.then(
      (connection) => done(null, { connection }),
      (error: Error) => done(error),
    );
  };
}

async function whenOpen(socket: Socket): Promise<Socket> {
  const timer = setTimeout(() => socket.destroy(errorWithCode('ETIMEDOUT')), CONNECT_TIMEOUT_MS);
  try {
    await new Promise<void>((resolve, reject) => {
      // This listener stays: an error after the conversation would end the process.
      socket.on('error', reject);
      socket.once('connect', resolve);
      socket.once('close', () => reject(errorWithCode('ECONNECTION')));
    });
    return socket;
  } finally {
    clearTimeout(timer);
  }
}

const errorWithCode = (code: string): Error => Object.assign(new Error(code), { code });

const textOf = (recipient: string | { readonly address: string }): string =>
  typeof recipient === 'string' ? recipient : recipient.address;

const system = 'The mail server';

/** By what the engine does next: 4xx replies are retried, 5xx are final, and no reply is a network error. */
function smtpError(thrown: unknown): Error {
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
/** "No such mailbox" in three forms. */
const NO_MAILBOX = new Set([550, 551, 553]);

function failureOf(reply: number, reason: string): RemoteFailure {
  if (reply < 500) return reply === 421 || reply === 450 || reply === 452 ? 'rateLimited' : 'failed';
  if (REFUSED_LOGIN.has(reply) || reason === 'EAUTH') return 'credentialRefused';
  return NO_MAILBOX.has(reply) ? 'notFound' : 'refused';
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : 'no reason given';
}
