// Secrets in our own database, sealed (box.ts). Setting one adds a version; versions stay until the secret is removed. An
// environment may have its own value; otherwise the value without an environment counts.

import { type Actor, type AuditStore, SYSTEM } from '../../store/audit-port.ts';
import type { SecretRow, SecretStore, SecretSummary } from '../../store/secret-port.ts';
import type { Box } from '../box.ts';
import type { TableSecretKey as Key, SecretPage, SecretProvider, TableSecretsPort } from '../secret.ts';

export interface TableSecretsDeps {
  readonly store: SecretStore & Pick<AuditStore, 'audited'>;
  readonly box: Box;
  /** Other caches of the tenant are out of date. */
  readonly changed: (tenantId: string) => void;
}

const REKEY_BATCH = 100;

export class TableSecrets implements SecretProvider, TableSecretsPort {
  readonly name = 'table';
  private readonly deps: TableSecretsDeps;

  constructor(deps: TableSecretsDeps) {
    this.deps = deps;
  }

  async get(
    { key: name, version }: { readonly key: string; readonly version?: string },
    { tenantId, environmentId }: { readonly tenantId: string; readonly environmentId: string },
  ): Promise<string | undefined> {
    const wanted = version === undefined ? null : Number(version);
    if (wanted !== null && !(Number.isInteger(wanted) && wanted > 0)) return undefined;
    const row = await this.deps.store.secretFind({ tenantId, environmentId, name, version: wanted });
    return row === null ? undefined : this.deps.box.open(row.sealed, placeOf(row));
  }

  async set(key: Key, value: string, by: Actor = SYSTEM): Promise<SecretSummary> {
    const { tenantId, name } = key;
    const made = await this.deps.store.audited({
      tenantId,
      by,
      work: (store) =>
        store.secretAdd({ ...key, by: by.name, sealed: (version) => this.sealed({ ...key, version }, value) }),
      deed: ({ version }) => ({
        action: 'secret.set',
        target: `secret/${name}`,
        details: { version, ...environmentOf(key) },
      }),
    });
    this.deps.changed(tenantId);
    return made;
  }

  async remove(key: Key, by: Actor = SYSTEM): Promise<boolean> {
    const { tenantId, name } = key;
    const removed = await this.deps.store.audited({
      tenantId,
      by,
      work: (store) => store.secretRemove(key),
      deed: (done) =>
        done ? { action: 'secret.remove', target: `secret/${name}`, details: environmentOf(key) } : null,
    });
    this.deps.changed(tenantId);
    return removed;
  }

  list(tenantId: string, page: SecretPage): Promise<SecretSummary[]> {
    return this.deps.store.secretList({ tenantId, ...page });
  }

  /** Seals texts of other keys with the first key, during operation. Returns how many. */
  async rekey(): Promise<number> {
    const { store, box } = this.deps;
    for (let done = 0; ; ) {
      const rows = await store.secretsOfOtherKeys({ keyId: box.primary.id, limit: REKEY_BATCH });
      const items = rows.map((row) => ({ before: row, sealed: this.sealed(row, box.open(row.sealed, placeOf(row))) }));
      await store.secretReseal({ items });
      done += rows.length;
      if (rows.length < REKEY_BATCH) return done;
    }
  }

  private sealed(place: Key & { readonly version: number }, value: string) {
    return this.deps.box.seal(value, placeOf(place));
  }
}

const placeOf = ({ tenantId, environmentId, name, version }: Omit<SecretRow, 'sealed'>): string =>
  JSON.stringify(['secret', tenantId, environmentId, name, version]);

const environmentOf = ({ environmentId }: Key) => (environmentId === '' ? {} : { environmentId });
