// The one place that reads SQLSTATE: the meaning of a failed statement for the caller's next step (I17, I18, I20).

import { StoreError, type StoreFailure } from '../store-error.ts';

/** Keys that only a batch meets whose execution has moved on: its own, if it was applied before, or another's. */
const APPLIED_KEYS = new Set(['execution_events_pkey', 'execution_outcomes_pkey']);

/** The primary has become a standby, or a standby is about to take over: a new connection may reach the other one. */
const READ_ONLY = '25006';
const TOO_MANY_CONNECTIONS = '53300';

/** The same advice at the start and in the log of a running process. */
export const TOO_MANY_ADVICE =
  'Raise max_connections, or lower PAWL_DATABASE_MAX_CONNECTIONS (docs/deployment.md, "Connections of a fleet").';

const RETRYABLE = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  '55P03', // lock not available
  '57014', // cancelled, e.g. by a statement timeout
  '57P01', // the server was told to stop
  '57P02', // it crashed
  '57P03', // it is starting or stopping
  '57P05', // idle session timeout
  READ_ONLY,
]);
/** Classes in which nothing happened and the cause may pass: resources, operator intervention, I/O. */
const RETRYABLE_CLASSES = new Set(['53', '58']);
/** NUL, or half of a surrogate pair, in a parameter. 22P05 is the same inside json: that is stored, so a request is not at fault. */
const UNSTORABLE_TEXT = '22021';
/** Class 08 before a statement ran at all. */
const NOT_CONNECTED = new Set(['08001', '08004']);

/** `connecting`: no statement was on its way, so nothing happened. */
export function storeError(error: unknown, during: 'connecting' | string): StoreError {
  if (error instanceof StoreError) return error;
  const { code, constraint, message } = describe(error);
  const failure = during === 'connecting' ? connectFailure(code) : statementFailure(code, constraint);
  const isUnstorableText = code === UNSTORABLE_TEXT;
  const advice = during === 'connecting' && code === TOO_MANY_CONNECTIONS ? `. ${TOO_MANY_ADVICE}` : '';
  return new StoreError(failure, `${during}: ${message}${advice}`, { cause: error, isUnstorableText });
}

/** The constraint that a failed statement violated, if that is why it failed. */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof StoreError ? describe(error.cause).constraint : describe(error).constraint;
}

/** Whether the connection cannot be used again: the server did not answer properly, or no longer accepts writes. */
export function connectionIsBroken(error: unknown): boolean {
  const { code } = describe(error);
  return !isSqlstate(code) || code.startsWith('08') || code.startsWith('57P') || code === READ_ONLY;
}

function statementFailure(code: string | undefined, constraint: string | undefined): StoreFailure {
  if (!isSqlstate(code)) return 'unknown';
  if (code === '23505' && APPLIED_KEYS.has(constraint ?? '')) return 'alreadyApplied';
  // 22: a value that does not fit. 23: a constraint violation. Either way the same batch fails again, and one item is at fault.
  if (code.startsWith('22') || code.startsWith('23')) return 'data';
  if (NOT_CONNECTED.has(code) || RETRYABLE.has(code) || RETRYABLE_CLASSES.has(code.slice(0, 2))) return 'retry';
  if (code.startsWith('08')) return 'unknown';
  return 'fatal';
}

/** A wrong password, database or role needs a person; an unreachable server may come back. */
function connectFailure(code: string | undefined): StoreFailure {
  return code !== undefined && /^(28|3D|3F|42)/.test(code) ? 'fatal' : 'retry';
}

/** Why there is no connection, by what a person would change. */
export type ConnectionProblem =
  | 'refused'
  | 'unknownHost'
  | 'timeout'
  | 'login'
  | 'noDatabase'
  | 'notAllowed'
  | 'tooMany'
  | 'notReady'
  | 'pooler'
  | 'noTls'
  | 'tlsDemanded'
  | 'untrusted'
  | 'otherHost'
  | 'expired'
  | 'tls'
  | 'readOnly'
  | 'notPostgres';

const PROBLEM_OF_CODE: Readonly<Record<string, ConnectionProblem>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  EADDRNOTAVAIL: 'refused',
  ENOENT: 'refused', // of a socket
  ENOTFOUND: 'unknownHost',
  EAI_AGAIN: 'unknownHost',
  ETIMEDOUT: 'timeout',
  ECONNRESET: 'notPostgres',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'untrusted',
  CERT_SIGNATURE_FAILURE: 'untrusted',
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'otherHost',
  '28P01': 'login',
  '28000': 'login',
  '3D000': 'noDatabase',
  '42501': 'notAllowed',
  '53300': 'tooMany',
  '57P03': 'notReady',
  '08P01': 'pooler', // "unsupported startup parameter"
};

/** Errors of the driver itself have a text but no code. */
const PROBLEM_OF_TEXT: readonly (readonly [RegExp, ConnectionProblem])[] = [
  [/password must be a (non-empty )?string/, 'login'],
  [/timeout expired|connection timeout/i, 'timeout'],
  [/does not support SSL/, 'noTls'],
  [/certificate|SSL/, 'tls'],
  [/^the server takes no writes$/, 'readOnly'],
  [/terminated unexpectedly|invalid response|unexpected response/i, 'notPostgres'],
];

/** null: not a connection problem. */
export function connectionProblem(error: unknown): ConnectionProblem | null {
  const { code = '', message } = describe(error instanceof StoreError ? error.cause : error);
  if (code === '28000' && /no encryption|SSL off/.test(message)) return 'tlsDemanded';
  return PROBLEM_OF_CODE[code] ?? PROBLEM_OF_TEXT.find(([text]) => text.test(message))?.[1] ?? null;
}

function isSqlstate(code: string | undefined): code is string {
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code);
}

function describe(error: unknown): { code?: string; constraint?: string; message: string } {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, constraint } = error as Error & { code?: unknown; constraint?: unknown };
  return {
    message: error.message || error.name,
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof constraint === 'string' ? { constraint } : {}),
  };
}
