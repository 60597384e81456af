// The port to whatever keeps secrets. A secret is named by a reference and never enters a definition, a parameter or a journal;
// its value is asked for in the attempt, for a tenant, an environment and a principal (S1, S6).

import type { SecretRef } from '../core/plan/plan.ts';
import type { Actor } from '../store/audit-port.ts';
import type { SecretSummary } from '../store/secret-port.ts';

/** For whom a secret is asked. */
export interface SecretContext {
  readonly tenantId: string;
  readonly environmentId: string;
  /** Null: no particular person. */
  readonly principalId: string | null;
}

/** One keeper of secrets: the environment, a folder, our table, Vault, a cloud's. Yours, if you write one. */
export interface SecretProvider {
  /** What references call it: `{ "provider": "vault", "key": "crm/token" }`. */
  readonly name: string;
  /** True: what it gives depends on the principal. */
  readonly perPrincipal?: boolean;
  /** Undefined: there is no such secret for this tenant. Throws when it cannot say, which is tried again. */
  get(
    ref: Pick<SecretRef, 'key' | 'version'>,
    context: SecretContext,
  ): Promise<string | undefined> | string | undefined;
  /** Throws when it cannot be reached. Absent: there is nothing to reach. */
  check?(signal: AbortSignal): Promise<void>;
  close?(): Promise<void>;
}

/** What keys of every provider look like; what else is allowed in them is the provider's. */
export const SECRET_KEY = /^[A-Za-z0-9][A-Za-z0-9._@/-]{0,254}$/;

/** No part of a path that leads elsewhere. */
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
  /** '': of every environment. */
  readonly environmentId: string;
  readonly name: string;
}

/** What stands before every key of a tenant. Tenants are letters, digits and a few signs: no part of it leads elsewhere. */
export const forTenant = (pattern: string, tenantId: string): string => pattern.replaceAll('{tenant}', tenantId);

/**
 * For keepers whose names have nothing but letters, digits and `-`, perhaps in one case. What else a tenant has becomes `-` and two digits,
 * so that no tenant's names are another's; what else a key has becomes `-`.
 */
export function plainName(pattern: string, tenantId: string, key: string): string {
  const tenant = tenantId.replaceAll(/[^a-z0-9]/g, (letter) => `-${letter.charCodeAt(0).toString(16)}`);
  return `${forTenant(pattern, tenant)}${key}`.replaceAll(/[^A-Za-z0-9-]/g, '-');
}

/** A package that only those install who use it: loaded once, when it is first needed. */
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
