// Refusals of the server as errors. Programs tell them apart by code.

import type { ApiError } from '../protocol/answer.ts';

export class PawlApiError extends Error {
  override readonly name = 'PawlApiError';
  /** A code of the server's registry, e.g. `WORKFLOW_NOT_FOUND`; `NOT_PAWL` when the answer did not come from Pawl. */
  readonly code: string;
  /** The name of a WFENG code, e.g. `REQUEST_ID_CONFLICT_OTHER_WORKFLOW` for `WFENG001`. */
  readonly codeName: string | undefined;
  readonly status: number;
  readonly details: unknown;
  /** The server's log has the request under this id; undefined when the answer had none. */
  readonly correlationId: string | undefined;
  /** Set when the server said how long to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, error: Partial<ApiError>, retryAfterMs?: number) {
    super(error.message ?? `the server answered ${status}, and not in the way Pawl does`);
    this.code = error.code ?? 'NOT_PAWL';
    this.codeName = error.name;
    this.status = status;
    this.details = error.details;
    this.correlationId = error.correlationId;
    this.retryAfterMs = retryAfterMs;
  }
}

export async function apiErrorOf(answer: Response): Promise<PawlApiError> {
  const body = (await answer.json().catch(() => null)) as { error?: Partial<ApiError> } | null;
  const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : undefined;
  const correlationId = answer.headers.get('x-correlation-id') ?? undefined;
  return new PawlApiError(
    answer.status,
    { ...(correlationId === undefined ? {} : { correlationId }), ...body?.error },
    retryAfterMs,
  );
}
