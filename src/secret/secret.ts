// The port to secret providers. A secret is named by a reference and never enters a definition, a parameter or a journal. Its
// value is read in the attempt, for a tenant, an environment and a principal (S1, S6).

import type { SecretRef } from '../core/plan/plan.ts';
import type { Actor } from '../store/audit-port.ts';
import type { SecretSummary } from '../store/secret-port.ts';

/** For whom a secret is read. */
export interface SecretContext {
  readonly tenantId: string;
  readonly environmentId: string;
  /** null: no particular person. */
  readonly principalId: string | null;
}

/** A provider of secrets: the environment, a folder, our table, Vault, a cloud's service, or your own. */
export interface SecretProvider {
  /** Its name in references: `{ "provider": "vault", "key": "crm/token" }`. */
  readonly name: string;
  /** true: its answers depend on the principal. */
  readonly perPrincipal?: boolean;
  /** undefined: the tenant has no such secret. Throws when the provider cannot tell; then the attempt is retried. */
  get(
    ref: Pick<SecretRef, 'key' | 'version'>,
    context: SecretContext,
  ): Promise<string | undefined> | string | undefined;
  /** Throws when the provider cannot be reached. Absent: there is nothing to reach. */
  check?(signal: AbortSignal): Promise<void>;
  close?(): Promise<void>;
}

/** The form of keys for all providers; a provider may be stricter. */
export const SECRET_KEY = /^[A-Za-z0-9][A-Za-z0-9._@/-]{0,254}$/;

/** Whether no part of the path leads elsewhere. */
export const isSafeKey = (key: string): boolean =>
  SECRET_KEY.test(key) && !key.split('/').some((part) => part === '' || part === '.' || part === '..');

export interface SecretPage {
  readonly after: { readonly name: string; readonly environmentId: string };
  readonly limit: number;
}

/** The operations on our own table of secrets (secret/table). */
export interface TableSecretsPort {
  set(key: TableSecretKey, value: string, by: Actor): Promise<SecretSummary>;
  remove(key: TableSecretKey, by: Actor): Promise<boolean>;
  list(tenantId: string, page: SecretPage): Promise<SecretSummary[]>;
}

export interface TableSecretKey {
  readonly tenantId: string;
  /** '': for every environment. */
  readonly environmentId: string;
  readonly name: string;
}

/** The prefix of a tenant's keys. Tenant names are letters, digits and a few signs, so no part of the prefix leads elsewhere. */
export const forTenant = (pattern: string, tenantId: string): string => pattern.replaceAll('{tenant}', tenantId);

/**
 * For providers whose names allow only letters, digits and `-`, perhaps in one case. Other characters of a tenant become `-`
 * and two digits, so that no two tenants share a name; other characters of a key become `-`.
 */
export function plainName(pattern: string, tenantId: string, key: string): string {
  const tenant = tenantId.replaceAll(/[^a-z0-9]/g, (letter) => `-${letter.charCodeAt(0).toString(16)}`);
  return `${forTenant(pattern, tenant)}${key}`.replaceAll(/[^A-Za-z0-9-]/g, '-');
}

/** Loads an optional package once, on first use. */
export function loaded<Client>(
  packageName: string,
  load: () => Promise<Client>,
): (() => Promise<Client>) & { isLoaded(): boolean } {
  let client: Promise<Client> | undefined;
  const get = () => {
    client ??= load().catch((error: NodeJS.ErrnoException) => {
      client = undefined;
      if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
      throw new Error(`the package ${packageName} is not installed: run \`npm install ${packageName}\``);
    });
    return client;
  };
  return Object.assign(get, { isLoaded: () => client !== undefined });
}
