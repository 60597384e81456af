// Why a statement failed, by the caller's next step. Thrown by implementations of the port; only postgres/sqlstate.ts reads
// SQLSTATE.

export type StoreFailure =
  /** The data of this batch is at fault (SQLSTATE 22xxx): bisect. */
  | 'data'
  /** The journal key exists: an identical batch was applied before. */
  | 'alreadyApplied'
  /** Nothing happened, and a repetition may work (deadlock, serialization, shutdown before execution). */
  | 'retry'
  /** The connection broke: the outcome is unknown. */
  | 'unknown'
  /** Anything else: a bug or a broken schema. */
  | 'fatal';

export const UNSTORABLE_TEXT =
  'a text of the request has a character that cannot be stored: NUL, or half of a surrogate pair';

export class StoreError extends Error {
  readonly failure: StoreFailure;
  /** For `data`: a text contains a character that the database cannot store. */
  readonly isUnstorableText: boolean;
  constructor(failure: StoreFailure, message: string, options?: { cause?: unknown; isUnstorableText?: boolean }) {
    super(message, options);
    this.name = 'StoreError';
    this.failure = failure;
    this.isUnstorableText = options?.isUnstorableText === true;
  }
}
