// HashiCorp Vault (and OpenBao), KV version 2, over HTTP. A key is a path; the value is its field `value`, or its only field. The
// token may be in a file that an agent renews, so it is read for every request.

import { readFile } from 'node:fs/promises';
import { forTenant, type SecretProvider } from '../secret.ts';

export interface VaultOptions {
  readonly address: string;
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly mount: string;
  /** The prefix of every key; `{tenant}` is the tenant. */
  readonly path: string;
  readonly namespace?: string | undefined;
  readonly timeoutMs: number;
}

/** Active, standby or replica: all of these answer. Sealed (503) and not initialised (501) do not. */
const WELL = new Set([200, 429, 472, 473]);

export function vaultSecrets(options: VaultOptions): SecretProvider {
  const base = options.address.replace(/\/+$/, '');
  const ask = async (path: string, signal: AbortSignal) =>
    fetch(`${base}/v1/${path}`, { headers: await headersOf(options), redirect: 'error', signal });
  return {
    name: 'vault',
    async get({ key, version }, { tenantId }) {
      const place = `${forTenant(options.path, tenantId)}/${key}`.split('/').map(encodeURIComponent).join('/');
      const query = version === undefined ? '' : `?version=${encodeURIComponent(version)}`;
      const answer = await ask(`${options.mount}/data/${place}${query}`, AbortSignal.timeout(options.timeoutMs));
      const text = await answer.text();
      // Also for deleted secrets and missing versions.
      if (answer.status === 404) return undefined;
      if (!answer.ok) throw new Error(`Vault answered ${answer.status}${errorsIn(text)}`);
      return valueIn(text, key);
    },
    async check(signal) {
      const answer = await ask('sys/health?standbyok=true', signal);
      await answer.body?.cancel();
      if (!WELL.has(answer.status))
        throw new Error(`Vault is ${answer.status === 503 ? 'sealed' : `not well (${answer.status})`}`);
    },
  };
}

async function headersOf({ token, tokenFile, namespace }: VaultOptions): Promise<Record<string, string>> {
  const given = token ?? (tokenFile === undefined ? '' : (await readFile(tokenFile, 'utf8')).trim());
  if (given === '') throw new Error('there is no token for Vault: set secret.vaultToken or secret.vaultTokenFile');
  return {
    'x-vault-token': given,
    'x-vault-request': 'true',
    ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
  };
}

function valueIn(text: string, key: string): string {
  const { data } = (JSON.parse(text) as { data?: { data?: Record<string, unknown> | null } }).data ?? {};
  const fields = Object.keys(data ?? {});
  const field = fields.includes('value') ? 'value' : fields.length === 1 ? fields[0]! : undefined;
  const value = field === undefined ? undefined : data![field];
  if (typeof value === 'string') return value;
  throw new Error(`"${key}" needs a text in its field "value"; it has ${fields.join(', ') || 'nothing'}`);
}

function errorsIn(text: string): string {
  try {
    const { errors } = JSON.parse(text) as { errors?: unknown[] };
    return Array.isArray(errors) && errors.length > 0 ? `: ${errors.join('; ').slice(0, 200)}` : '';
  } catch {
    return '';
  }
}
