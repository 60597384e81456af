// Whether a resource in another system was created by an earlier attempt of this node. For systems without idempotency keys: the
// answer to that attempt was lost, and creating it again would double it (I7). The resource must have been created with our
// credential, recently, and be linked to no other node or execution. Recently, because links go with their executions; a day is
// far longer than retries take and far shorter than executions are kept.

import type { ActionContext, ResourceLink } from './action.ts';

export interface FoundRemotely {
  readonly link: Pick<ResourceLink, 'system' | 'resourceType' | 'resourceId'>;
  readonly isMadeByUs: boolean;
  /** As `Date.parse` reads it. */
  readonly createdAt: string;
}

const LATELY_MS = 24 * 3_600_000;

export async function isFromEarlierAttempt(
  { link, isMadeByUs, createdAt }: FoundRemotely,
  context: Pick<ActionContext, 'mayHaveRun' | 'executionId' | 'nodeId' | 'findResource'>,
): Promise<boolean> {
  if (!context.mayHaveRun || !isMadeByUs) return false;
  if (!(Date.parse(createdAt) > Date.now() - LATELY_MS)) return false;
  const holder = await context.findResource(link);
  return holder === null || (holder.executionId === context.executionId && holder.nodeId === context.nodeId);
}
