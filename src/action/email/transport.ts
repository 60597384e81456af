// Hands one message to the mail server. The socket is ours, so that it closes when the attempt stops, wherever the
// conversation is. Files and URLs are never read on behalf of a message.

import { connect, type Socket } from 'node:net';
import type { SendMailOptions } from 'nodemailer';
import type { SMTPTransportGetSocket } from 'nodemailer/lib/smtp-transport';
import type { ActionContext } from '../action.ts';
import { smtpError } from './error.ts';
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
  // The mail client asks for it later; until then nobody would hear that it failed.
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
      // It stays: an error after the conversation would end the process.
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
