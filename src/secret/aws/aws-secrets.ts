// AWS Secrets Manager with AWS's own client, loaded on first use. Credentials are found as AWS's tools find them (environment,
// profile, the machine's role). A version is an id, or a label such as AWSPREVIOUS.

import type { GetSecretValueCommandOutput } from '@aws-sdk/client-secrets-manager';
import { forTenant, loaded, type SecretProvider } from '../secret.ts';

export interface AwsOptions {
  readonly region: string;
  readonly endpoint?: string | undefined;
  /** The prefix of every key; `{tenant}` is the tenant. */
  readonly prefix: string;
}

const VERSION_ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$|^[A-Za-z0-9]{32,64}$/;

export function awsSecrets({ region, endpoint, prefix }: AwsOptions): SecretProvider {
  const sdk = loaded('@aws-sdk/client-secrets-manager', async () => {
    const { SecretsManagerClient, GetSecretValueCommand, ListSecretsCommand } = await import(
      '@aws-sdk/client-secrets-manager'
    );
    const client = new SecretsManagerClient({ region, ...(endpoint === undefined ? {} : { endpoint }) });
    return { client, GetSecretValueCommand, ListSecretsCommand };
  });
  return {
    name: 'aws-sm',
    async get({ key, version }, { tenantId }) {
      const { client, GetSecretValueCommand } = await sdk();
      const which =
        version === undefined ? {} : VERSION_ID.test(version) ? { VersionId: version } : { VersionStage: version };
      try {
        const SecretId = `${forTenant(prefix, tenantId)}${key}`;
        return textOf(await client.send(new GetSecretValueCommand({ SecretId, ...which })));
      } catch (error) {
        if ((error as Error).name === 'ResourceNotFoundException') return undefined;
        throw error;
      }
    },
    async check(abortSignal) {
      const { client, ListSecretsCommand } = await sdk();
      await client.send(new ListSecretsCommand({ MaxResults: 1 }), { abortSignal }).catch((error: Error) => {
        // Permission to read secrets does not include permission to list them.
        if (error.name !== 'AccessDeniedException') throw error;
      });
    },
  };
}

const textOf = ({ SecretString: text, SecretBinary: bytes }: GetSecretValueCommandOutput): string | undefined =>
  text ?? (bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8'));
