// Answers with the result: a request stays open until its execution has ended or its time is up. Meanwhile it takes no place of a
// working request (load.ts), so thousands may wait.

import type { Executions } from '../execution/executions.ts';
import type { ExecutionView } from '../store/reader-port.ts';
import type { Aside } from './route.ts';

export interface ResultRequest {
  readonly query: { readonly wait?: number | undefined };
  readonly caller: { readonly tenantId: string };
  readonly aside: Aside;
  readonly signal: AbortSignal;
}

/** Null: the caller did not ask to wait, the execution takes longer, or too many requests wait already. */
export async function resultWithin(
  executions: Pick<Executions, 'ended'>,
  request: ResultRequest,
  executionId: string,
): Promise<ExecutionView | null> {
  const { query, caller, aside } = request;
  if (query.wait === undefined) return null;
  const patience = { waitMs: query.wait, signal: request.signal };
  return aside(() => executions.ended(caller.tenantId, executionId, patience));
}
