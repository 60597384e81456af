// A way to reach consumers of one kind. `send` delivers the message (and may learn that it is already processed), or throws: then
// the message counts as undelivered and is sent again later. Bytes and id are the same on every attempt.

import { PawlError } from '../../core/error/pawl-error.ts';
import type { ClaimedDelivery } from '../../store/delivery-port.ts';
import type { JsonText, Timestamp } from '../../store/port.ts';
import type { Consumer } from '../consumer.ts';

export interface Channel {
  /** false: this process cannot reach the consumer. Absent: it reaches every consumer of the kind. */
  reaches?(consumer: Consumer): boolean;
  send(delivery: ClaimedDelivery, consumer: Consumer, signal: AbortSignal): Promise<Sent>;
  close?(): Promise<void>;
}

export type Sent =
  | { readonly stage: 'Delivered' }
  | {
      readonly stage: 'Processed';
      readonly outcome: 'succeeded' | 'failed';
      readonly message: string | null;
      /** With a failure: when to send again; null: the failure is final. */
      readonly retryAt: Timestamp | null;
      /** The payload of the event that the hook triggers. */
      readonly result: JsonText | null;
    };

export const DELIVERED: Sent = { stage: 'Delivered' };
export const PROCESSED: Sent = { stage: 'Processed', outcome: 'succeeded', message: null, retryAt: null, result: null };

const MAX_MESSAGE = 2_000;

/** The acknowledgement in a consumer's answer. An answer without one counts as delivered. */
export function sentOf(answer: unknown): Sent {
  if (answer === null || typeof answer !== 'object') return DELIVERED;
  const { stage, outcome, message, retryAt, result } = answer as Record<string, unknown>;
  const failed = outcome === 'failed';
  if (stage !== 'Processed' && !failed) return DELIVERED;
  return {
    stage: 'Processed',
    outcome: failed ? 'failed' : 'succeeded',
    message: typeof message === 'string' ? message.slice(0, MAX_MESSAGE) : null,
    retryAt: failed ? timeOf(retryAt) : null,
    result: resultText(result),
  };
}

const MAX_RESULT_BYTES = 65_536;

/** The stored text. Throws when the result is too large: part of a result would be a different result. */
export function resultText(result: unknown): JsonText | null {
  const text = result === undefined ? undefined : JSON.stringify(result);
  if (text === undefined) return null;
  if (Buffer.byteLength(text) <= MAX_RESULT_BYTES) return text;
  throw new PawlError('REQUEST_INVALID', `\`result\` has more than ${MAX_RESULT_BYTES} bytes as JSON`);
}

/** Throws instead of taking an unreadable time for "never try again". */
function timeOf(value: unknown): Timestamp | null {
  if (value === undefined || value === null) return null;
  const time = value instanceof Date ? value.getTime() : typeof value === 'string' ? Date.parse(value) : value;
  if (typeof time !== 'number' || !Number.isFinite(time)) throw new Error('the answer has a retryAt that is no time');
  return time;
}
