// The secrets of an installation: the key that seals our own table, the other providers, and the connections that give attempts
// their credentials.

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { CredentialProvider, CredentialRequest } from '../action/credential.ts';
import { bareCredential } from '../action/credential.ts';
import { environmentCredentials } from '../action/credentials.ts';
import type { HttpClient } from '../action/http-client.ts';
import type { Registry } from '../action/registry.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { Authorization } from '../connection/authorization.ts';
import { ConnectionCredentials } from '../connection/connection-credentials.ts';
import { ConnectionKeys } from '../connection/connection-keys.ts';
import { ConnectionTokens } from '../connection/connection-tokens.ts';
import { Connections } from '../connection/connections.ts';
import { awsSecrets } from '../secret/aws/aws-secrets.ts';
import { azureSecrets } from '../secret/azure/azure-secrets.ts';
import { Box, DATABASE_KEY_ID, readKeys, SealError, type SealKey } from '../secret/box.ts';
import { environmentSecrets } from '../secret/environment/environment-secrets.ts';
import { fileSecrets } from '../secret/file/file-secrets.ts';
import { gcpSecrets } from '../secret/gcp/gcp-secrets.ts';
import { resealTexts } from '../secret/sealed-store.ts';
import type { SecretProvider } from '../secret/secret.ts';
import { Secrets } from '../secret/secrets.ts';
import { TableSecrets } from '../secret/table/table-secrets.ts';
import { vaultSecrets } from '../secret/vault/vault-secrets.ts';
import type { Store } from '../store/port.ts';
import { connectorChecks } from './connector-check.ts';
import type { Telemetry } from './telemetry.ts';

export const DEFAULT_TENANT = 'default';

export interface SecrecyOptions {
  readonly secrets?: readonly SecretProvider[];
  readonly credentials?: CredentialProvider;
}

interface SecrecyDeps {
  readonly box: Box;
  readonly store: Store;
  readonly http: HttpClient;
  readonly registry: Registry;
  readonly telemetry: Telemetry;
  readonly newId: () => string;
  readonly closers: (() => Promise<unknown>)[];
}

export type Secrecy = Awaited<ReturnType<typeof openSecrecy>>;

export async function openSecrecy(options: SecrecyOptions, config: Config, deps: SecrecyDeps) {
  const { box, store, http, registry, telemetry, closers } = deps;
  const tableSecrets = new TableSecrets({ store, box, changed: (tenantId) => secrets.forget(tenantId) });
  const secrets: Secrets = new Secrets(
    [...builtInProviders(config), tableSecrets, ...(options.secrets ?? [])],
    config.secret,
  );
  closers.push(() => secrets.close());
  const now = () => Date.now();
  const pause = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));
  const tokens = new ConnectionTokens({ store, box, http, now, pause });
  const connected = new ConnectionCredentials({
    ...{ store, box, secrets, tokens, now },
    provider: options.credentials ?? null,
    warn: telemetry.warn,
    ownCredentialsOnly: config.auth.validateDownstreamPermissions,
  });
  const connectors = new Set([...registry.catalog().connectors.map(({ id }) => id)]);
  const checks = connectorChecks(config);
  const connections = new Connections({
    ...{ store, box, http, connectors, checks, newId: deps.newId },
    credentials: connected,
  });
  // Runs in the background: values sealed with an older key open as well.
  void rekey(deps, tableSecrets);
  const credentials = { resolve: withEnvironment(connected, config) };
  return { box, secrets, tableSecrets, tokens, connected, connections, credentials };
}

/** The sign-in of connections, where there is a server to return to. */
export function createAuthorization(
  { connections, connected, tokens, store, box }: Secrecy & { readonly store: Store },
  publicUrl: () => string,
): Authorization {
  const redirectUri = () => `${publicUrl()}/oauth/callback`;
  return new Authorization({
    connections,
    credentials: connected,
    tokens,
    store,
    box,
    now: () => Date.now(),
    redirectUri,
  });
}

/** A process without the current keys, such as a command, changes nothing. */
async function rekey({ box, store, telemetry: { warn } }: SecrecyDeps, table: TableSecrets): Promise<void> {
  try {
    await resealTexts(store, box);
    await table.rekey();
    await new ConnectionKeys({ store, box }).rekey();
  } catch (error) {
    warn('secrets could not be sealed with the new key', { error: (error as Error).message });
  }
}

/** Whether the environment has a token for the connector. It belongs to the default tenant. */
export function tokensInEnvironment({ connectorTokens }: Config): (tenantId: string, connectorId: string) => boolean {
  const environment = environmentCredentials(connectorTokens);
  return (tenantId, connectorId) => tenantId === DEFAULT_TENANT && environment.token(connectorId) !== undefined;
}

/** A token from the environment counts for the default tenant where there is no connection. */
function withEnvironment(connected: ConnectionCredentials, config: Config) {
  const environment = environmentCredentials(config.connectorTokens);
  const fallback = ({ tenantId, connector }: CredentialRequest) => {
    const token = tenantId === DEFAULT_TENANT ? environment.token(connector) : undefined;
    return token === undefined ? null : bareCredential(token);
  };
  return (request: CredentialRequest) => {
    const found = connected.resolve(request);
    if (found instanceof Promise) return found.then((credential) => credential ?? fallback(request));
    return found ?? fallback(request);
  };
}

function builtInProviders({ secret, secretVariables }: Config): SecretProvider[] {
  return [
    environmentSecrets(secretVariables, DEFAULT_TENANT),
    ...(secret.folder === undefined ? [] : [fileSecrets(secret.folder)]),
    ...remoteProviders(secret),
  ];
}

function remoteProviders(secret: Config['secret']): SecretProvider[] {
  const { vaultAddress: address, awsRegion: region, gcpProject: project, azureVaultUrl: vaultUrl } = secret;
  const vault = { token: secret.vaultToken, tokenFile: secret.vaultTokenFile, namespace: secret.vaultNamespace };
  const { vaultMount: mount, vaultPath: path, timeoutMs } = secret;
  return [
    ...(address === undefined ? [] : [vaultSecrets({ ...vault, address, mount, path, timeoutMs })]),
    ...(region === undefined ? [] : [awsSecrets({ region, endpoint: secret.awsEndpoint, prefix: secret.awsPrefix })]),
    ...(project === undefined ? [] : [gcpSecrets({ project, prefix: secret.gcpPrefix })]),
    ...(vaultUrl === undefined ? [] : [azureSecrets({ vaultUrl, prefix: secret.azurePrefix })]),
  ];
}

/** Without a key of yours, one is generated and stored in the database: better than nothing, but not by much. */
export async function openBox(config: Config, store: Store, { warn }: Telemetry): Promise<Box> {
  const own = await givenKeys(config);
  const made: SealKey = { id: DATABASE_KEY_ID, key: Buffer.from(await store.secretGet({ name: 'seal' })) };
  const [first, ...others] = own;
  if (first !== undefined) return new Box([first, ...others, made]);
  if (!config.auth.allowLooseAuth) {
    warn('secrets are sealed with a key that lies beside them in the database: set secret.keys (PAWL_SECRET_KEYS)', {});
  }
  return new Box([made]);
}

/**
 * The key of callback tokens. A process that neither serves nor runs, such as `pawl keys`, may lack the key that opens it,
 * and gets a random one.
 */
export async function callbackKeyOf(store: Store, needsIt: boolean): Promise<Uint8Array> {
  try {
    return await store.secretGet({ name: 'callback' });
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    if (needsIt) throw new ConfigError(`The configuration is not valid:\n- ${error.message} (PAWL_SECRET_KEYS)`);
    return randomBytes(32);
  }
}

async function givenKeys({ secret: { keys, keyFile } }: Config): Promise<SealKey[]> {
  try {
    const lines = keyFile === undefined ? keys : [...keys, ...(await readFile(keyFile, 'utf8')).split('\n')];
    return readKeys(lines);
  } catch (error) {
    throw new ConfigError(`The configuration is not valid:\n- ${(error as Error).message}`);
  }
}
