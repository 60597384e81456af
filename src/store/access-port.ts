// Access: API keys (only their hashes) and rate-limit buckets, shared by all processes.

import type { RateAlgorithm } from '../protocol/quota.ts';
import type { JsonText, Timestamp } from './port.ts';

export interface AccessStore {
  apiKeyCreate(params: NewApiKey): Promise<void>;
  /** By the sha256 of the key; null when the key is unknown, revoked or expired. */
  apiKeyFind(params: { hash: Uint8Array }): Promise<ApiKey | null>;
  /** Whether any usable key exists. */
  apiKeyAny(): Promise<boolean>;
  apiKeyList(params: { tenantId: string }): Promise<(ApiKey & { revokedAt: Timestamp | null })[]>;
  apiKeyRevoke(params: { tenantId: string; id: string }): Promise<boolean>;
  /** Refills the bucket for the elapsed time, then takes one token if there is one. One atomic statement. */
  rateSpend(params: { key: string; perSecond: number; burst: number }): Promise<{ allowed: boolean; tokens: number }>;
  /**
   * Takes one of `perMinute`. `granted` with a wait: a future place is taken, at most `mayWaitMs` away. Not granted: nothing
   * is taken, and the wait says when there could be a place. One atomic statement.
   */
  rateReserve(params: {
    key: string;
    algorithm: RateAlgorithm;
    perMinute: number;
    mayWaitMs: number;
  }): Promise<{ granted: boolean; waitMs: number }>;
  /** A full bucket is as good as none. */
  ratePurge(params: { olderThanMs: number }): Promise<number>;
}

export interface ApiKey {
  id: string;
  tenantId: string;
  name: string;
  scopes: string[];
  roles: string[];
  /** null: no limits within its tenant. */
  limits: JsonText | null;
  createdAt: Timestamp;
  expiresAt: Timestamp | null;
}

export interface NewApiKey {
  id: string;
  tenantId: string;
  name: string;
  hash: Uint8Array;
  scopes: string[];
  roles: string[];
  limits: JsonText | null;
  expiresAt: Timestamp | null;
}
