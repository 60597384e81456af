// The operator's mail server and the connection to it. A password must not be in the URL (it would end up in process lists and
// error messages), and is sent over TLS only, unless the server is on this machine.

import { TerminalError } from '../../core/error/error.ts';
import type { ActionContext } from '../action.ts';
import { requireToken } from '../remote-failure.ts';

export interface EmailOptions {
  /** `smtp://user@host:587` (STARTTLS where the server offers it) or `smtps://user@host:465`. */
  readonly smtpUrl?: string | undefined;
  /** The default sender: `"Pawl" <pawl@example.com>`. */
  readonly from?: string | undefined;
}

export interface MailServer {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  readonly requireTLS: boolean;
  readonly auth?: { readonly user: string; readonly pass: string };
}

const SETTING = 'PAWL_CONNECTORS_EMAIL_SMTP_URL';

export function mailServer({ smtpUrl }: EmailOptions, context: ActionContext): MailServer {
  if (smtpUrl === undefined) throw notConfigured(`does not know a mail server: set ${SETTING}`);
  const url = URL.parse(smtpUrl);
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '') {
    throw notConfigured(`has a mail server that is not smtp://user@host:port or smtps://user@host:port (${SETTING})`);
  }
  if (url.password !== '') {
    throw notConfigured(`has a password in ${SETTING}: take it out and set CONNECTOR_EMAIL_TOKEN instead`);
  }
  const secure = url.protocol === 'smtps:';
  const host = decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1');
  const place = { host, port: url.port === '' ? (secure ? 465 : 587) : Number(url.port), secure };
  if (url.username === '') return { ...place, requireTLS: false };
  const auth = { user: decodeURIComponent(url.username), pass: requireToken(context, 'email') };
  return { ...place, requireTLS: !secure && !LOOPBACK.test(host), auth };
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1)$/;

function notConfigured(what: string): TerminalError {
  return new TerminalError('CONNECTOR_NOT_CONFIGURED', `The connector "email" ${what}`);
}
