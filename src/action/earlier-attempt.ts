// Whether something that was found in another system is what an earlier attempt of this node made, for systems that offer
// no idempotency key: the answer to that attempt was lost, and creating it again would double it (I7). It must have been
// made with our credential, lately, and be linked to no other node or execution. Lately, because links go when
// their executions are cleaned up; a day is far longer than retries take and far shorter than executions are kept.

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
