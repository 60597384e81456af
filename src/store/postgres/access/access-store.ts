// API keys and the buckets of rate limits.

import type { AccessStore, ApiKey } from '../../access-port.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const CREATE = statement('api_key_create');
const FIND = statement('api_key_find');
const ANY = statement('api_key_any');
const LIST = statement('api_key_list');
const REVOKE = statement('api_key_revoke');
const SPEND = statement('rate_spend');
const PURGE = statement('rate_purge');

export function accessStore(database: Database): AccessStore {
  return {
    async apiKeyCreate({ id, tenantId, name, hash, scopes, roles, limits, expiresAt }) {
      const expiry = expiresAt === null ? null : new Date(expiresAt);
      await database.run(CREATE, [id, tenantId, name, Buffer.from(hash), scopes, roles, limits, expiry]);
    },
    async apiKeyFind({ hash }) {
      const [row] = await database.run<ApiKey>(FIND, [Buffer.from(hash)]);
      return row ?? null;
    },
    async apiKeyAny() {
      const [row] = await database.run<{ found: boolean }>(ANY, []);
      return row!.found;
    },
    apiKeyList: ({ tenantId }) => database.run(LIST, [tenantId]),
    apiKeyRevoke: async ({ tenantId, id }) => (await database.run(REVOKE, [tenantId, id])).length > 0,
    async rateSpend({ key, perSecond, burst }) {
      const [row] = await database.run<{ tokens: number; granted: boolean }>(SPEND, [key, perSecond, burst]);
      return { allowed: row!.granted, tokens: row!.tokens };
    },
    ratePurge: async ({ olderThanMs }) => (await database.run(PURGE, [olderThanMs / 1000])).length,
  };
}
