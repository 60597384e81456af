// Google Secret Manager with Google's own client, loaded on first use. Credentials are found as Google's tools find them. Names
// use only letters, digits and `-`: other characters become `-`.

import type { SecretManagerServiceClient } from '@google-cloud/secret-manager';
import { loaded, plainName, type SecretProvider } from '../secret.ts';

export interface GcpOptions {
  readonly project: string;
  /** The prefix of every key; `{tenant}` is the tenant. */
  readonly prefix: string;
  /** For tests: access to a server that stands in for Google's. */
  readonly client?: ConstructorParameters<typeof SecretManagerServiceClient>[0];
}

/** The codes of gRPC, and of HTTP over REST. */
const NOT_FOUND: readonly unknown[] = [5, 404];
const NOT_ALLOWED: readonly unknown[] = [7, 403];

export function gcpSecrets({ project, prefix, client: settings = {} }: GcpOptions): SecretProvider {
  const sdk = loaded('@google-cloud/secret-manager', async () => {
    const { SecretManagerServiceClient: Client } = await import('@google-cloud/secret-manager');
    return new Client(settings);
  });
  return {
    name: 'gcp-sm',
    async get({ key, version = 'latest' }, { tenantId }) {
      const client = await sdk();
      const secret = plainName(prefix, tenantId, key);
      try {
        const name = `projects/${project}/secrets/${secret}/versions/${version}`;
        const [{ payload }] = await client.accessSecretVersion({ name });
        return payload?.data === undefined || payload.data === null ? undefined : textOf(payload.data);
      } catch (error) {
        if (NOT_FOUND.includes((error as { code?: number }).code)) return undefined;
        throw error;
      }
    },
    async check() {
      const name = `projects/${project}/secrets/pawl-health/versions/latest`;
      await (await sdk()).accessSecretVersion({ name }, { retry: null }).catch(({ code, message }) => {
        // Any answer will do: this secret need not exist or be readable.
        if (!NOT_FOUND.includes(code) && !NOT_ALLOWED.includes(code)) throw new Error(message);
      });
    },
    async close() {
      if (sdk.isLoaded()) await (await sdk()).close();
    },
  };
}

/** Bytes, or base64 over REST. */
const textOf = (data: Uint8Array | string): string =>
  (typeof data === 'string' ? Buffer.from(data, 'base64') : Buffer.from(data)).toString('utf8');
