// Checks whether a connection still works: by its `checkUrl`, or by its connector's own request. Without either, the credential
// is opened and, if needed, a token fetched: nothing more can be known.

import type { Credential } from '../action/credential.ts';
import type { HttpClient } from '../action/http-client.ts';
import type { ConnectionRow } from '../store/secret-port.ts';
import { settingsOf } from './connection.ts';

/** Throws the problem. */
export type ConnectorCheck = (credential: Credential, http: HttpClient) => Promise<void>;
export type ConnectorChecks = Readonly<Record<string, ConnectorCheck>>;

const TIMEOUT_MS = 15_000;

export async function checkConnection(
  row: ConnectionRow,
  open: () => Promise<Credential>,
  { http, checks }: { readonly http: HttpClient; readonly checks: ConnectorChecks },
): Promise<{ readonly ok: boolean; readonly message?: string }> {
  let secrets: readonly string[] = [];
  try {
    const credential = await open();
    secrets = credential.secrets;
    const { checkUrl } = settingsOf(row);
    const check = checkUrl === undefined ? checks[row.connector] : (asked: Credential) => ask(asked, http, checkUrl);
    if (check === undefined)
      return { ok: true, message: 'the credential can be read; give a `checkUrl` to have it tried' };
    await check(credential, http);
    return { ok: true };
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const message = secrets.reduce((text, secret) => text.replaceAll(secret, '[redacted]'), said);
    return { ok: false, message: message.slice(0, 500) };
  }
}

async function ask(credential: Credential, http: HttpClient, checkUrl: string): Promise<void> {
  const url = new URL(checkUrl);
  credential.checkHost(url);
  const request = credential.authorize({ url, method: 'GET', timeoutMs: TIMEOUT_MS, onOversize: 'truncate' });
  const { status } = await http.request(request);
  if (status >= 200 && status < 300) return;
  const what = status === 401 || status === 403 ? 'refused the credential' : 'did not answer as it should';
  throw new Error(`${url.origin} ${what} (status ${status})`);
}
