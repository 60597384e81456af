// API keys and the buckets of rate limits.

import type { AccessStore, ApiKey } from '../../access-port.ts';
import { GroupWrite, type Waiting } from '../../group-write.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const CREATE = statement('api_key_create');
const FIND = statement('api_key_find');
const ANY = statement('api_key_any');
const LIST = statement('api_key_list');
const REVOKE = statement('api_key_revoke');
const SPEND = statement('rate_spend');
const RESERVE_BUCKET = statement('rate_reserve_bucket');
const RESERVE_WINDOW = statement('rate_reserve_window');
const RESERVE_LOG = statement('rate_reserve_log');
const PURGE = statement('rate_purge');

const MOST_KEYS = 256;

export function accessStore(database: Database): AccessStore {
  const keys = new GroupWrite<string, ApiKey | null>({
    timers: { soon: (callback) => void setImmediate(callback) },
    maxInFlight: 1,
    split: (waiting) => [waiting.slice(0, MOST_KEYS), waiting.slice(MOST_KEYS)],
    write: (batch) => findKeys(database, batch),
  });
  return {
    async apiKeyCreate({ id, tenantId, name, hash, scopes, roles, limits, expiresAt }) {
      const expiry = expiresAt === null ? null : new Date(expiresAt);
      await database.run(CREATE, [id, tenantId, name, Buffer.from(hash), scopes, roles, limits, expiry]);
    },
    apiKeyFind: ({ hash }) => keys.submit(Buffer.from(hash).toString('hex')),
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
    async rateReserve({ key, algorithm, perMinute, mayWaitMs }) {
      const longest = mayWaitMs / 1000;
      const [row] = await (algorithm === 'token-bucket'
        ? database.run<Reserved>(RESERVE_BUCKET, [key, perMinute / 60, perMinute, longest])
        : database.run<Reserved>(algorithm === 'fixed-window' ? RESERVE_WINDOW : RESERVE_LOG, [
            key,
            perMinute,
            longest,
          ]));
      return { granted: row!.granted, waitMs: Math.ceil(row!.wait * 1000) };
    },
    ratePurge: async ({ olderThanMs }) => (await database.run(PURGE, [olderThanMs / 1000])).length,
  };
}

async function findKeys(database: Database, batch: readonly Waiting<string, ApiKey | null>[]): Promise<void> {
  const hashes = [...new Set(batch.map(({ item }) => item))].map((hash) => Buffer.from(hash, 'hex'));
  const rows = await database.run<ApiKey & { hash: Buffer }>(FIND, [hashes]);
  const found = new Map(rows.map(({ hash, ...key }) => [hash.toString('hex'), key]));
  for (const { item, resolve } of batch) resolve(found.get(item) ?? null);
}

interface Reserved {
  granted: boolean;
  wait: number;
}
