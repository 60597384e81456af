// Which task queue an attempt of a node belongs to: what its plan says, else the data queue of the environment for dbt, else the
// control queue. The same for every driver.

import { actionTypeOf } from './action-type.ts';
import type { PlanNode } from './plan.ts';

export function taskQueueOf({ dispatch, step }: Pick<PlanNode, 'dispatch' | 'step'>, environmentId: string): string {
  return dispatch?.taskQueue ?? (isHeavy(actionTypeOf(step)) ? dataQueue(environmentId) : controlQueue(environmentId));
}

/** Steps that need much of a machine: they have workers and a rate limit of their own. */
export function isHeavy(actionType: string): boolean {
  return actionType.includes('DBT');
}

export function controlQueue(environmentId: string): string {
  return `tq-control-${environmentId}`;
}

export function dataQueue(environmentId: string): string {
  return `tq-data-${environmentId}`;
}

/** For tenants whose attempts run apart from everybody else's. */
export function isolationQueue(tenantId: string, environmentId: string): string {
  return `tq-isolation-${tenantId}-${environmentId}`;
}

/** The queues that are inferred, as patterns. */
export const INFERRED_QUEUES: readonly string[] = ['tq-control-*', 'tq-data-*'];

/** Whether one of these names means the queue; one that ends in `*` means every queue that begins so. */
export function isQueueAmong(names: readonly string[], taskQueue: string): boolean {
  return names.some((name) => (name.endsWith('*') ? taskQueue.startsWith(name.slice(0, -1)) : taskQueue === name));
}
