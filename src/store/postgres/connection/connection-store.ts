// Sealed secrets and connections on PostgreSQL. Attempts use the engine's pool, people's queries the other one.

import type { Timestamp } from '../../port.ts';
import type {
  ConnectionRow,
  ConnectionStore,
  NewConnection,
  SealedBytes,
  SealedTextRow,
  SecretRow,
  SecretStore,
  SecretSummary,
} from '../../secret-port.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const FIND_SECRET = statement('secret_find');
const LOCK_SECRET = statement('secret_lock');
const NEXT_VERSION = statement('secret_next_version');
const ADD_SECRET = statement('secret_add');
const REMOVE_SECRET = statement('secret_remove');
const LIST_SECRETS = statement('secret_list');
const SECRETS_OF_OTHERS = statement('secret_of_other_keys');
const RESEAL_SECRET = statement('secret_reseal');
const TEXTS_OF_OTHERS = statement('sealed_texts_of_other_keys');
const REPLACE_ENGINE_SECRET = statement('engine_secret_replace');
const REPLACE_OF_CONSUMER = statement('sealed_text_replace_consumer');
const REPLACE_OF_TRIGGER = statement('sealed_text_replace_trigger');
const UNDEFAULT = statement('connection_undefault');
const ADD = statement('connection_add');
const CHANGE = statement('connection_change');
const REMOVE = statement('connection_remove');
const FIND = statement('connection_find');
const DEFAULT = statement('connection_default');
const LIST = statement('connection_list');
const NAMED = statement('connection_named');
const USES = statement('connection_uses');
const CLAIM_TOKEN = statement('connection_token_claim');
const SAVE_TOKEN = statement('connection_token_save');
const USED = statement('connection_used');
const CHECKED = statement('connection_checked');
const OF_OTHERS = statement('connection_of_other_keys');
const RESEAL = statement('connection_reseal');

export function secretStore(engine: Database, reader: Database): SecretStore {
  return {
    async secretFind({ tenantId, environmentId, name, version }) {
      const [row] = await engine.run<SecretRecord>(FIND_SECRET, [tenantId, environmentId, name, version]);
      return row === undefined ? null : secretRow(row);
    },
    secretAdd: ({ tenantId, environmentId, name, by, sealed }) =>
      reader.transaction(async (session) => {
        const key = [tenantId, environmentId, name];
        await session.run(LOCK_SECRET, key);
        const [next] = await session.run<{ version: number }>(NEXT_VERSION, key);
        const { version } = next!;
        const { keyId, bytes } = sealed(version);
        const [row] = await session.run<SecretSummary>(ADD_SECRET, [...key, version, keyId, bytes, by]);
        return row!;
      }),
    secretRemove: async ({ tenantId, environmentId, name }) =>
      (await reader.run(REMOVE_SECRET, [tenantId, environmentId, name])).length > 0,
    secretList: async ({ tenantId, after, limit }) =>
      await reader.run<SecretSummary>(LIST_SECRETS, [tenantId, after.name, limit, after.environmentId]),
    secretsOfOtherKeys: async ({ keyId, limit }) =>
      (await reader.run<SecretRecord>(SECRETS_OF_OTHERS, [keyId, limit])).map(secretRow),
    async secretReseal({ items }) {
      for (const { before, sealed } of items) {
        const { tenantId, environmentId, name, version } = before;
        const place = [tenantId, environmentId, name, version, before.sealed.keyId];
        await reader.run(RESEAL_SECRET, [...place, sealed.keyId, sealed.bytes]);
      }
    },
    async sealedTextsOfOtherKeys({ prefix, after, limit }) {
      const rows = await reader.run<Omit<SealedTextRow, 'tenantId'> & { tenantId: string }>(TEXTS_OF_OTHERS, [
        prefix,
        after,
        limit,
      ]);
      return rows.map(({ tenantId, ...row }) => ({ ...row, tenantId }));
    },
    async engineSecretReplace({ name, before, value }) {
      await reader.run(REPLACE_ENGINE_SECRET, [name, before, value]);
    },
    async sealedTextReplace({ items }) {
      for (const { before, secrets } of items) {
        const id = before.id.slice(before.id.indexOf('/') + 1);
        const replace = before.code === null ? REPLACE_OF_TRIGGER : REPLACE_OF_CONSUMER;
        await reader.run(replace, [id, before.secrets, secrets]);
      }
    },
  };
}

export function connectionStore(engine: Database, reader: Database): ConnectionStore {
  return {
    connectionAdd: (row) =>
      reader.transaction(async (session) => {
        await undefault(session, row);
        const added = await session.run(ADD, values(row));
        if (added.length === 0) return null;
        return one(await session.run<Row>(FIND, [row.tenantId, row.name, row.principalId]));
      }),
    connectionChange: ({ revision, dropTokens, ...row }) =>
      reader.transaction(async (session) => {
        await undefault(session, row);
        const changed = await session.run(CHANGE, [...values(row), revision, dropTokens]);
        if (changed.length === 0) return null;
        return one(await session.run<Row>(FIND, [row.tenantId, row.name, row.principalId]));
      }),
    connectionRemove: async ({ tenantId, name, principalId }) =>
      (await reader.run(REMOVE, [tenantId, name, principalId])).length > 0,
    connectionFind: async ({ tenantId, name, principalId }) =>
      one(await engine.run<Row>(FIND, [tenantId, name, principalId])),
    connectionDefault: async ({ tenantId, connector }) => one(await engine.run<Row>(DEFAULT, [tenantId, connector])),
    connectionList: async ({ tenantId, after, limit, connector }) =>
      (await reader.run<Row>(LIST, [tenantId, after.name, after.principalId, limit, connector])).map(connectionRow),
    connectionsNamed: ({ tenantId, names }) => reader.run(NAMED, [tenantId, names]),
    connectionUses: ({ tenantId, name, limit }) => reader.run(USES, [tenantId, name, limit]),

    async connectionTokenClaim({ connectionId, leaseMs }) {
      const [row] = await engine.run<Row & { claimed: boolean }>(CLAIM_TOKEN, [connectionId, leaseMs / 1000]);
      return row === undefined ? null : { row: connectionRow(row), claimed: row.claimed };
    },
    async connectionTokenSave({ connectionId, tokens, problem }) {
      await engine.run(SAVE_TOKEN, [connectionId, tokens?.keyId ?? null, tokens?.bytes ?? null, problem]);
    },
    async connectionUsed({ connectionIds }) {
      await reader.run(USED, [connectionIds]);
    },
    async connectionChecked({ connectionId, ok, message }) {
      await reader.run(CHECKED, [connectionId, ok, message]);
    },
    connectionsOfOtherKeys: async ({ keyId, limit }) =>
      (await reader.run<Row>(OF_OTHERS, [keyId, limit])).map(connectionRow),
    async connectionReseal({ items }) {
      for (const { before, sealed, tokens } of items) {
        const was = [before.connectionId, before.sealed.keyId, before.tokens?.keyId ?? null];
        const now = [sealed.keyId, sealed.bytes, tokens?.keyId ?? null, tokens?.bytes ?? null];
        await reader.run(RESEAL, [...was, ...now]);
      }
    },
  };
}

async function undefault(
  session: Pick<Database, 'run'>,
  { tenantId, connector, name, principalId, isDefault }: NewConnection,
): Promise<void> {
  if (isDefault && principalId === '') await session.run(UNDEFAULT, [tenantId, connector, name]);
}

function values(row: NewConnection): unknown[] {
  const { connectionId, tenantId, name, principalId, connector, kind, settings, allowedHosts, isDefault, sealed } = row;
  const shown = [connectionId, tenantId, name, principalId, connector, kind, settings, allowedHosts, isDefault];
  return [...shown, sealed.keyId, sealed.bytes, row.problem];
}

const one = ([row]: Row[]): ConnectionRow | null => (row === undefined ? null : connectionRow(row));

const connectionRow = (row: Row): ConnectionRow => ({
  connectionId: row.id,
  tenantId: row.tenantId,
  name: row.name,
  principalId: row.principalId,
  connector: row.connector,
  kind: row.kind,
  settings: row.settings,
  allowedHosts: row.allowedHosts,
  isDefault: row.isDefault,
  revision: row.revision,
  sealed: sealedBytes(row.keyId, row.sealed),
  tokens: row.tokens === null ? null : sealedBytes(row.tokensKeyId!, row.tokens),
  problem: row.problem,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
  lastUsedAt: row.lastUsedAt,
  checkedAt: row.checkedAt,
  checkOk: row.checkOk,
  checkMessage: row.checkMessage,
});

const sealedBytes = (keyId: string, bytes: Buffer): SealedBytes => ({ keyId, bytes });

const secretRow = (row: SecretRecord): SecretRow => ({
  tenantId: row.tenantId,
  environmentId: row.environmentId,
  name: row.name,
  version: row.version,
  sealed: sealedBytes(row.keyId, row.sealed),
});

interface SecretRecord {
  tenantId: string;
  environmentId: string;
  name: string;
  version: number;
  keyId: string;
  sealed: Buffer;
}

interface Row {
  id: string;
  tenantId: string;
  name: string;
  principalId: string;
  connector: string;
  kind: string;
  settings: string;
  allowedHosts: string[];
  isDefault: boolean;
  revision: number;
  keyId: string;
  sealed: Buffer;
  tokensKeyId: string | null;
  tokens: Buffer | null;
  problem: string | null;
  createdAt: Timestamp;
  updatedAt: Timestamp;
  lastUsedAt: Timestamp | null;
  checkedAt: Timestamp | null;
  checkOk: boolean | null;
  checkMessage: string | null;
}
