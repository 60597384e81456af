// Azure Key Vault, with Azure's own clients, which are loaded when they are first needed. Credentials are found as Azure's tools
// find them. Names there have letters, digits and `-` only: anything else becomes `-`.

import type { TokenCredential } from '@azure/identity';
import { loaded, plainName, type SecretProvider } from '../secret.ts';

export interface AzureOptions {
  readonly vaultUrl: string;
  /** What stands before every key; `{tenant}` is the tenant. */
  readonly prefix: string;
  /** For tests: a server that stands in for Azure's, on this machine. */
  readonly standIn?: { readonly credential: TokenCredential };
}

export function azureSecrets({ vaultUrl, prefix, standIn }: AzureOptions): SecretProvider {
  const sdk = loaded('@azure/keyvault-secrets', async () => {
    const { SecretClient } = await import('@azure/keyvault-secrets');
    if (standIn !== undefined) {
      const options = { disableChallengeResourceVerification: true, allowInsecureConnection: true };
      return new SecretClient(vaultUrl, standIn.credential, options);
    }
    const { DefaultAzureCredential } = await import('@azure/identity');
    return new SecretClient(vaultUrl, new DefaultAzureCredential());
  });
  return {
    name: 'azure-kv',
    async get({ key, version }, { tenantId }) {
      const client = await sdk();
      const name = plainName(prefix, tenantId, key);
      try {
        return (await client.getSecret(name, version === undefined ? {} : { version })).value;
      } catch (error) {
        if ((error as { statusCode?: number }).statusCode === 404) return undefined;
        throw error;
      }
    },
    async check(abortSignal) {
      const client = await sdk();
      await client.getSecret('pawl-health', { abortSignal }).catch((error: { statusCode?: number }) => {
        // An answer is an answer: nobody needs to have this secret, or to be allowed to look for it.
        if (error.statusCode !== 404 && error.statusCode !== 403) throw error;
      });
    },
  };
}
