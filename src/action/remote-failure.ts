// What connectors share about failing: a missing credential, and an answer of another system that is not a success. The
// codes are the same for every connector, so that a failure route can be written without knowing which system it was.
// Messages name the system, its own code and text, and what to do; never what was sent (S6).

import type { z } from 'zod';
import { RetryableError, TerminalError } from '../core/error/error.ts';
import type { ActionContext } from './action.ts';
import { credentialVariable } from './credentials.ts';

/** The codes that all connectors to other systems share. */
export const REMOTE_CODES = [
  'CREDENTIAL_MISSING',
  'CREDENTIAL_REFUSED',
  'REQUEST_REFUSED',
  'RESOURCE_NOT_FOUND',
  'RESOURCE_CONFLICT',
  'RATE_LIMITED',
  'REMOTE_FAILED',
  'RESPONSE_INVALID',
  'NETWORK_ERROR',
] as const;

export function requireToken({ credentials }: Pick<ActionContext, 'credentials'>, connectorId: string): string {
  const token = credentials.token(connectorId);
  if (token !== undefined) return token;
  const variable = credentialVariable(connectorId);
  const command = `pawl connections create my-${connectorId} --connector ${connectorId} --kind token --default --secrets -`;
  const message = `The connector "${connectorId}" has no credential. Create one (\`${command}\`), or set ${variable} (for the default tenant)`;
  throw new TerminalError('CREDENTIAL_MISSING', message);
}

export interface RemoteAnswer {
  /** The system's name for people: "Slack". */
  readonly system: string;
  readonly status: number;
  /** The other system's own description of the failure. */
  readonly detail: string;
  readonly retryAfterMs?: number | null | undefined;
}

export type RemoteFailure = 'rateLimited' | 'failed' | 'credentialRefused' | 'notFound' | 'conflict' | 'refused';

export function failureOfStatus(status: number): RemoteFailure {
  if (status === 429) return 'rateLimited';
  if (status === 408 || status === 425 || status >= 500) return 'failed';
  if (status === 401 || status === 403) return 'credentialRefused';
  if (status === 404 || status === 410) return 'notFound';
  return status === 409 ? 'conflict' : 'refused';
}

export function remoteError(
  { system, detail, retryAfterMs }: Omit<RemoteAnswer, 'status'>,
  failure: RemoteFailure,
): TerminalError | RetryableError {
  const delay = typeof retryAfterMs === 'number' && retryAfterMs > 0 ? { retryAfterMs } : {};
  switch (failure) {
    case 'rateLimited':
      return new RetryableError('RATE_LIMITED', `${system} asks to slow down: ${detail}`, delay);
    case 'failed':
      return new RetryableError('REMOTE_FAILED', `${system} failed: ${detail}`, delay);
    case 'credentialRefused':
      return new TerminalError('CREDENTIAL_REFUSED', `${system} refused the credential: ${detail}`);
    case 'notFound':
      return new TerminalError('RESOURCE_NOT_FOUND', `${system} did not find it: ${detail}`);
    case 'conflict':
      return new TerminalError('RESOURCE_CONFLICT', `${system} has something else in its place: ${detail}`);
    case 'refused':
      return new TerminalError('REQUEST_REFUSED', `${system} did not accept the request: ${detail}`);
  }
}

export function errorOfAnswer(answer: RemoteAnswer): TerminalError | RetryableError {
  return remoteError(answer, failureOfStatus(answer.status));
}

/** A proxy's error page or a broken connection: worth another try. */
export function unreadable(system: string): RetryableError {
  return new RetryableError('RESPONSE_INVALID', `${system} answered with something that is not JSON`);
}

/** The fields that an action needs from an answer. An answer without them may come from a broken server, so it is retried. */
export function readAnswer<Answer extends z.ZodType>(
  system: string,
  schema: Answer,
  answer: unknown,
): z.output<Answer> {
  const read = schema.safeParse(answer);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? 'the answer' : issue.path.join('.');
  throw new RetryableError('RESPONSE_INVALID', `${system} answered without what was asked for: ${where}`);
}
