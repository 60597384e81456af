// Sealed secrets as the database keeps them: our own table, and the credentials of connections. Part of the one door to storage
// (port.ts). Nothing here can be read without the key that sealed it, which is not in this database unless nobody gave one.

import type { JsonText, Timestamp } from './port.ts';

export interface SealedBytes {
  keyId: string;
  bytes: Buffer;
}

export interface SecretRow {
  tenantId: string;
  /** '': of every environment. */
  environmentId: string;
  name: string;
  version: number;
  sealed: SealedBytes;
}

export interface SecretSummary {
  environmentId: string;
  name: string;
  version: number;
  createdAt: Timestamp;
  createdBy: string;
}

export interface SecretStore {
  /** The newest version, or the one that is asked for; of the environment, or else of every environment. */
  secretFind(params: {
    tenantId: string;
    environmentId: string;
    name: string;
    version: number | null;
  }): Promise<SecretRow | null>;
  /** The next version; `sealed` is asked for once its number is known. */
  secretAdd(params: {
    tenantId: string;
    environmentId: string;
    name: string;
    by: string;
    sealed: (version: number) => SealedBytes;
  }): Promise<SecretSummary>;
  /** Removes all versions. False: the secret does not exist. */
  secretRemove(params: { tenantId: string; environmentId: string; name: string }): Promise<boolean>;
  /** The newest version of each, by name and environment, those after. */
  secretList(params: {
    tenantId: string;
    after: { name: string; environmentId: string };
    limit: number;
  }): Promise<SecretSummary[]>;
  secretsOfOtherKeys(params: { keyId: string; limit: number }): Promise<SecretRow[]>;
  /** Rows that were changed or sealed again in the meantime stay as they are. */
  secretReseal(params: { items: { before: SecretRow; sealed: SealedBytes }[] }): Promise<void>;
  /** A key that all processes share (`secretGet`) in another form: sealed. Nothing happens when somebody was faster. */
  engineSecretReplace(params: { name: string; before: Uint8Array; value: Uint8Array }): Promise<void>;
  /** Webhook triggers and consumers with a secret that does not begin with this, by id, those after. */
  sealedTextsOfOtherKeys(params: { prefix: string; after: string; limit: number }): Promise<SealedTextRow[]>;
  /** Secrets that were changed since stay as they are. */
  sealedTextReplace(params: { items: { before: SealedTextRow; secrets: string[] }[] }): Promise<void>;
}

/** The secrets of a webhook trigger or of a consumer: texts, sealed or from before there was a box. */
export interface SealedTextRow {
  /** In the order of the table and the row: where the next batch begins. */
  id: string;
  tenantId: string;
  /** Of a consumer; null: they are a trigger's. */
  code: string | null;
  secrets: string[];
}

export interface ConnectionRow {
  connectionId: string;
  tenantId: string;
  name: string;
  /** '': the tenant's. */
  principalId: string;
  connector: string;
  kind: string;
  /** The fields that may be shown. */
  settings: JsonText;
  allowedHosts: string[];
  isDefault: boolean;
  /** Counts up with every change that people make. */
  revision: number;
  /** The secret fields, as JSON; never shown. */
  sealed: SealedBytes;
  /** Tokens that another server gave for it, as JSON; null: none yet. */
  tokens: SealedBytes | null;
  /** Null: it works, as far as is known. Otherwise what must be done. */
  problem: string | null;
  createdAt: Timestamp;
  updatedAt: Timestamp;
  lastUsedAt: Timestamp | null;
  checkedAt: Timestamp | null;
  checkOk: boolean | null;
  checkMessage: string | null;
}

export type NewConnection = Pick<
  ConnectionRow,
  | 'connectionId'
  | 'tenantId'
  | 'name'
  | 'principalId'
  | 'connector'
  | 'kind'
  | 'settings'
  | 'allowedHosts'
  | 'isDefault'
  | 'sealed'
  | 'problem'
>;

export interface ConnectionKey {
  tenantId: string;
  name: string;
  principalId: string;
}

export interface ConnectionStore {
  /** Null: the name is taken. A default takes the place of the one before. */
  connectionAdd(params: NewConnection): Promise<ConnectionRow | null>;
  /** Null: the connection is missing or has another revision. Tokens of the old one are dropped if asked. */
  connectionChange(params: NewConnection & { revision: number; dropTokens: boolean }): Promise<ConnectionRow | null>;
  connectionRemove(params: ConnectionKey): Promise<boolean>;
  connectionFind(params: ConnectionKey): Promise<ConnectionRow | null>;
  /** The tenant's default for a connector. */
  connectionDefault(params: { tenantId: string; connector: string }): Promise<ConnectionRow | null>;
  /** By name and principal, those after. */
  connectionList(params: {
    tenantId: string;
    after: { name: string; principalId: string };
    limit: number;
    connector: string | null;
  }): Promise<ConnectionRow[]>;
  /** Names among these that the tenant has, with their connectors. */
  connectionsNamed(params: {
    tenantId: string;
    names: string[];
  }): Promise<{ name: string; connector: string; kind: string }[]>;
  /** Workflows whose current version names it, and consumers that do; a few of them. */
  connectionUses(params: {
    tenantId: string;
    name: string;
    limit: number;
  }): Promise<{ kind: 'workflow' | 'consumer'; id: string }[]>;

  /**
   * One process at a time asks for new tokens: the row as it is, and whether it is this process's turn for `leaseMs`.
   * Null: it is gone.
   */
  connectionTokenClaim(params: {
    connectionId: string;
    leaseMs: number;
  }): Promise<{ row: ConnectionRow; claimed: boolean } | null>;
  /** Ends the turn. Null tokens: what there was stays. */
  connectionTokenSave(params: {
    connectionId: string;
    tokens: SealedBytes | null;
    problem: string | null;
  }): Promise<void>;
  connectionUsed(params: { connectionIds: string[] }): Promise<void>;
  connectionChecked(params: { connectionId: string; ok: boolean; message: string | null }): Promise<void>;
  connectionsOfOtherKeys(params: { keyId: string; limit: number }): Promise<ConnectionRow[]>;
  connectionReseal(params: {
    items: { before: ConnectionRow; sealed: SealedBytes; tokens: SealedBytes | null }[];
  }): Promise<void>;
}
