// A real SMTP server on the loopback address that keeps every mail. Recipients choose its replies: `busy@…` gets 450, `nobody@…`
// gets 550. It offers no STARTTLS, because nobody trusts its certificate.

import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Header names are in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  readonly raw: string;
  readonly user: string | null;
}

export interface SmtpStandin {
  readonly host: string;
  readonly port: number;
  readonly mails: ReceivedMail[];
  /** The next message is refused with this reply after it has been sent. */
  refuseNext(reply: number): void;
  /** The next message is kept, and its client is never told; resolves when the message is kept. */
  withholdNext(): Promise<void>;
  /** The next conversation stops at the sender command; resolves when the client has disconnected. */
  hangNext(): Promise<void>;
  /** Resolves when a conversation has stopped in this way. */
  readonly hanging: Promise<void>;
  close(): Promise<void>;
}

export interface SmtpStandinOptions {
  readonly user?: string;
  readonly password?: string;
  /** TLS from the start. */
  readonly secure?: boolean;
}

export async function smtpStandin({ user, password, secure = false }: SmtpStandinOptions = {}): Promise<SmtpStandin> {
  const mails: ReceivedMail[] = [];
  const refusals: number[] = [];
  const hangs: (() => void)[] = [];
  const withheld: (() => void)[] = [];
  const gone: (() => void)[] = [];
  const hanging = Promise.withResolvers<void>();

  const server = new SMTPServer({
    secure,
    hideSTARTTLS: true,
    authOptional: user === undefined,
    allowInsecureAuth: true,
    onAuth: (auth, _session, done) => {
      const isRight = auth.username === user && auth.password === password;
      done(isRight ? null : reply(535, 'Authentication credentials invalid'), { user: auth.username });
    },
    onMailFrom: (_address, _session, done) => {
      const hang = hangs.shift();
      if (hang === undefined) return done();
      gone.push(hang);
      hanging.resolve();
    },
    onRcptTo: ({ address }, _session, done) => {
      if (address.startsWith('busy@')) return done(reply(450, 'Mailbox busy'));
      done(address.startsWith('nobody@') ? reply(550, 'No such user here') : null);
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const refusal = refusals.shift();
        if (refusal !== undefined) return done(reply(refusal, 'Not now'));
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        const account = typeof session.user === 'string' ? session.user : null;
        mails.push({
          ...readMail(Buffer.concat(chunks).toString()),
          from,
          to: rcptTo.map(({ address }) => address),
          user: account,
        });
        const kept = withheld.shift();
        if (kept === undefined) done();
        else kept();
      });
    },
    onClose: () => {
      for (const resolve of gone.splice(0)) resolve();
    },
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;

  return {
    host: '127.0.0.1',
    port,
    mails,
    refuseNext: (code) => void refusals.push(code),
    withholdNext: () => new Promise((resolve) => withheld.push(resolve)),
    hangNext: () => new Promise((resolve) => hangs.push(resolve)),
    hanging: hanging.promise,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function reply(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

function readMail(raw: string): Pick<ReceivedMail, 'headers' | 'body' | 'raw'> {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  return { headers, body: raw.slice(end + 4), raw };
}
