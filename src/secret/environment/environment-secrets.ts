// Secrets in the process environment: `SECRET_<KEY>` for the default tenant, `SECRET_<tenant>__<KEY>` for any other. No other
// variable can be named, so no tenant reads the database's password.

import type { SecretProvider } from '../secret.ts';

export function environmentSecrets(
  variables: Readonly<Record<string, string | undefined>>,
  defaultTenant: string,
): SecretProvider {
  return {
    name: 'environment',
    get({ key, version }, { tenantId }) {
      // Two underscores would address another tenant, and there are no versions here.
      if (version !== undefined || !/^[A-Za-z0-9]+(_[A-Za-z0-9]+)*$/.test(key)) return undefined;
      const name = tenantId === defaultTenant ? `SECRET_${key}` : `SECRET_${tenantId}__${key}`;
      return Object.hasOwn(variables, name) ? variables[name] : undefined;
    },
  };
}
