// A consumer as delivery uses it: its row, with parsed subscriptions and settings. Its secrets are in the row and are used for
// signatures only (S6).

import type { ConsumerKind } from '../protocol/consumer-kind.ts';
import type { ConsumerRequestJson } from '../protocol/delivery.ts';
import type { ConsumerRow } from '../store/delivery-port.ts';
import type { Subscription } from './subscription.ts';

export interface Consumer extends ConsumerRow {
  readonly subscribed: readonly Subscription[];
  readonly settings: ConsumerSettings;
}

export interface ConsumerSettings {
  /** For one message, instead of the installation's option. */
  readonly timeoutMs?: number;
  /** The number of attempts after which a delivery is dead; 0: unlimited. */
  readonly maxAttempts?: number;
  /** `Delivered`: a message is complete once it was taken, and is never reminded of. */
  readonly completeAt?: 'Delivered' | 'Processed';
  /** Buses only: the prefix of the subjects. */
  readonly subject?: string;
  /** Webhooks only: the connection whose credential goes on every request. Stored with the options, shown beside them. */
  readonly connection?: string;
}

/** Codes of the built-in consumers. They cannot be registered, because a code must not contain brackets. */
export const BUILT_IN_CODES = { workflow: '(workflows)', trigger: '(triggers)' } as const;
export type BuiltInKind = keyof typeof BUILT_IN_CODES;

export const isBuiltIn = (kind: ConsumerKind): kind is BuiltInKind => kind in BUILT_IN_CODES;

export function consumerOf(row: ConsumerRow): Consumer {
  return {
    ...row,
    subscribed: JSON.parse(row.subscriptions) as Subscription[],
    settings: JSON.parse(row.options) as ConsumerSettings,
  };
}

/** A consumer as people see it: without its secrets, of which only the number is shown. */
export interface ConsumerView {
  readonly code: string;
  readonly kind: ConsumerKind;
  readonly url: string | null;
  readonly subscriptions: readonly Subscription[];
  readonly ordering: 'delivered' | 'processed';
  readonly concurrency: number;
  readonly options: Omit<ConsumerSettings, 'connection'>;
  readonly connection: string | null;
  readonly isPaused: boolean;
  readonly validSecrets: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export function consumerView(row: ConsumerRow): ConsumerView {
  const { code, kind, url, ordering, concurrency, isPaused, createdAt, updatedAt, secrets } = row;
  const { subscribed: subscriptions, settings } = consumerOf(row);
  const { connection = null, ...options } = settings;
  const shown = { code, kind, url, subscriptions, ordering, concurrency, options, connection, isPaused };
  return { ...shown, validSecrets: secrets.length, createdAt, updatedAt };
}

/** A request to register or change a consumer. A configuration file may hold anything, so consumerProblems checks every field. */
export type ConsumerRequest = {
  readonly [Field in Exclude<keyof ConsumerRequestJson, 'tenantId'>]?: unknown;
};
