// The rules for a request to start an execution. They are checked before the request joins others in one statement, so that a
// value that cannot be stored is its sender's problem alone (I17).

import { PawlError } from '../../core/error/pawl-error.ts';
import { formatTraceparent, parseTraceparent } from '../../core/id/trace-context.ts';

const MAX_NAME_LENGTH = 256;
const MAX_PRIORITY = 9;

interface StartFields {
  readonly tenantId: string;
  readonly workflowId: string;
  readonly version?: number | undefined;
  readonly priority?: number | undefined;
  readonly requestId?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly projectId?: string | undefined;
  readonly environmentId?: string | undefined;
  readonly traceparent?: string | undefined;
  readonly trigger?: unknown;
  readonly spec?: unknown;
  readonly principal?: unknown;
}

const NAMES = ['tenantId', 'workflowId', 'requestId', 'correlationId', 'projectId', 'environmentId'] as const;
const PAYLOADS = ['trigger', 'spec', 'principal'] as const;

export function checkStartRequest(request: StartFields): void {
  const problems = [
    ...NAMES.flatMap((field) => nameProblems(field, request[field])),
    ...PAYLOADS.flatMap((field) => payloadProblems(field, request[field])),
    ...numberProblems('priority', request.priority, 0, MAX_PRIORITY),
    ...traceProblems(request.traceparent),
    ...numberProblems('version', request.version, 0, 2 ** 31 - 1),
  ];
  const [first] = problems;
  if (first !== undefined) throw new PawlError('REQUEST_INVALID', first.message, problems);
}

interface FieldProblem {
  readonly code: string;
  readonly path: string;
  readonly message: string;
}

const problem = (field: string, message: string): FieldProblem => ({
  code: 'REQUEST_INVALID',
  path: `/${field}`,
  message: `${field} ${message}`,
});

function nameProblems(field: string, value: unknown): FieldProblem[] {
  if (value === undefined) return [];
  if (typeof value !== 'string' || value === '') return [problem(field, 'must be a text that is not empty')];
  if (value.length > MAX_NAME_LENGTH) return [problem(field, `may have at most ${MAX_NAME_LENGTH} characters`)];
  return value.includes('\0') || !value.isWellFormed() ? [problem(field, 'holds characters that are not text')] : [];
}

function traceProblems(value: string | undefined): FieldProblem[] {
  const context = value === undefined ? undefined : parseTraceparent(value);
  if (context === undefined || (context !== null && formatTraceparent(context) === value)) return [];
  return [problem('traceparent', 'must be a W3C trace context: 00-<trace id>-<span id>-<flags>')];
}

function numberProblems(field: string, value: unknown, least: number, most: number): FieldProblem[] {
  const fits = Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
  return value === undefined || fits ? [] : [problem(field, `must be a whole number from ${least} to ${most}`)];
}

function payloadProblems(field: string, value: unknown): FieldProblem[] {
  if (value === undefined) return [];
  try {
    if (JSON.stringify(value) !== undefined) return [];
  } catch {
    // A circular value, or a BigInt.
  }
  return [problem(field, 'must be a JSON value')];
}
