// Azure Key Vault with Azure's own clients, loaded on first use. Credentials are found as Azure's tools find them. Names allow
// only letters, digits and `-`: other characters become `-`.

import { loaded, plainName, type SecretProvider } from '../secret.ts';

export interface AzureOptions {
  readonly vaultUrl: string;
  /** The prefix of every key; `{tenant}` is the tenant. */
  readonly prefix: string;
  /** For tests: a local server that stands in for Azure's. */
  readonly standIn?: { readonly ca: string };
}

export function azureSecrets({ vaultUrl, prefix, standIn }: AzureOptions): SecretProvider {
  const sdk = loaded('@azure/keyvault-secrets', async () => {
    const { SecretClient } = await import('@azure/keyvault-secrets');
    const { DefaultAzureCredential } = await import('@azure/identity');
    const options =
      standIn === undefined ? {} : { disableChallengeResourceVerification: true, tlsOptions: { ca: standIn.ca } };
    return new SecretClient(vaultUrl, new DefaultAzureCredential(), options);
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
        // Any answer will do: this secret need not exist or be readable.
        if (error.statusCode !== 404 && error.statusCode !== 403) throw error;
      });
    },
  };
}
