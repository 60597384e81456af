// Secrets in the environment of the process: `SECRET_<KEY>` of the default tenant, `SECRET_<tenant>__<KEY>` of any other. Nothing
// else of the environment can be named, so that no tenant reads the password of the database.

import type { SecretProvider } from '../secret.ts';

export function environmentSecrets(
  variables: Readonly<Record<string, string | undefined>>,
  defaultTenant: string,
): SecretProvider {
  return {
    name: 'environment',
    get({ key, version }, { tenantId }) {
      // Two underscores would be another tenant's; there are no versions here.
      if (version !== undefined || !/^[A-Za-z0-9]+(_[A-Za-z0-9]+)*$/.test(key)) return undefined;
      const name = tenantId === defaultTenant ? `SECRET_${key}` : `SECRET_${tenantId}__${key}`;
      return Object.hasOwn(variables, name) ? variables[name] : undefined;
    },
  };
}
