// Options of the secret providers: their addresses, and the names of secrets.

import { z } from 'zod';
import { atLeast, list } from './option-form.ts';

export const secretSection = z.strictObject({
  keys: list.describe('keys that seal secrets in the database, the one in use first: `2026=<32 bytes in base64>`'),
  keyFile: z.string().optional().describe('a file with the same keys, one per line'),
  folder: z.string().optional().describe('folder of the provider `file`: `<folder>/<tenant>/<key>`'),
  vaultAddress: z.string().optional().describe('address of HashiCorp Vault, for the provider `vault` (KV version 2)'),
  vaultToken: z.string().optional().describe('token for Vault; absent: `vaultTokenFile` is read'),
  vaultTokenFile: z.string().optional().describe('file with the token, read again whenever it changes'),
  vaultMount: z.string().default('secret').describe("mount point of Vault's KV engine"),
  vaultPath: z.string().default('pawl/{tenant}').describe('prefix of every key'),
  vaultNamespace: z.string().optional().describe('namespace of Vault Enterprise'),
  awsRegion: z.string().optional().describe('region of AWS Secrets Manager, for the provider `aws-sm`'),
  awsEndpoint: z.string().optional().describe("endpoint to use instead of the region's own"),
  awsPrefix: z.string().default('pawl/{tenant}/').describe('prefix of every key'),
  gcpProject: z.string().optional().describe('project of Google Secret Manager, for the provider `gcp-sm`'),
  gcpPrefix: z.string().default('pawl-{tenant}--').describe('prefix of every key; keep `--` after the tenant'),
  azureVaultUrl: z.string().optional().describe('https://<name>.vault.azure.net, for the provider `azure-kv`'),
  azurePrefix: z.string().default('pawl-{tenant}--').describe('prefix of every key; keep `--` after the tenant'),
  latestTtlMs: atLeast(0, 120_000).describe('how long the latest version of a secret is kept in memory'),
  versionTtlMs: atLeast(0, 600_000).describe('how long a secret with a named version is kept in memory'),
  timeoutMs: atLeast(100, 5_000).describe('how long a provider may take to answer; after that the attempt is retried'),
});
