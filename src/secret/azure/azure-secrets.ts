// Azure Key Vault, with Azure's own clients, which are loaded when they are first needed. Credentials are found as Azure's tools
// find them. Names there have letters, digits and `-` only: anything else becomes `-`.

import { loaded, plainName, type SecretProvider } from '../secret.ts';

export interface AzureOptions {
  readonly vaultUrl: string;
  /** What stands before every key; `{tenant}` is the tenant. */
  readonly prefix: string;
  /** For tests: a server that stands in for Azure's, on this machine. */
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
        // An answer is an answer: nobody needs to have this secret, or to be allowed to look for it.
        if (error.statusCode !== 404 && error.statusCode !== 403) throw error;
      });
    },
  };
}
