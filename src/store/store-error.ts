// Why a statement failed, by what the caller does next. Thrown by implementations of the port; SQLSTATE is read in one
// file only (postgres/sqlstate.ts).

export type StoreFailure =
  /** The data of this batch is at fault (SQLSTATE 22xxx): bisect. */
  | 'data'
  /** The journal key exists: an identical batch was applied before. */
  | 'alreadyApplied'
  /** Nothing happened, and the same again may work (deadlock, serialization, shutdown before execution). */
  | 'retry'
  /** The connection broke: it happened or it did not. */
  | 'unknown'
  /** Anything else: a bug or a broken schema. */
  | 'fatal';

export const UNSTORABLE_TEXT =
  'a text of the request has a character that cannot be stored: NUL, or half of a surrogate pair';

export class StoreError extends Error {
  readonly failure: StoreFailure;
  /** Of `data`: a text has a character that no text in the database can have. */
  readonly isUnstorableText: boolean;
  constructor(failure: StoreFailure, message: string, options?: { cause?: unknown; isUnstorableText?: boolean }) {
    super(message, options);
    this.name = 'StoreError';
    this.failure = failure;
    this.isUnstorableText = options?.isUnstorableText === true;
  }
}
