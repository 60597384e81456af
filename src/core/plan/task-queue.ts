// The task queue of a node's attempts: the queue that the plan names, else the environment's data queue for dbt, else its control
// queue. The same for every driver.

import { actionTypeOf } from './action-type.ts';
import type { PlanNode } from './plan.ts';

export function taskQueueOf({ dispatch, step }: Pick<PlanNode, 'dispatch' | 'step'>, environmentId: string): string {
  return dispatch?.taskQueue ?? (isHeavy(actionTypeOf(step)) ? dataQueue(environmentId) : controlQueue(environmentId));
}

/** Heavy steps have workers and a rate limit of their own. */
export function isHeavy(actionType: string): boolean {
  return actionType.includes('DBT');
}

export function controlQueue(environmentId: string): string {
  return `tq-control-${environmentId}`;
}

export function dataQueue(environmentId: string): string {
  return `tq-data-${environmentId}`;
}

/** For tenants whose attempts run on workers of their own. */
export function isolationQueue(tenantId: string, environmentId: string): string {
  return `tq-isolation-${tenantId}-${environmentId}`;
}

/** Patterns of the inferred queues. */
export const INFERRED_QUEUES: readonly string[] = ['tq-control-*', 'tq-data-*'];

/** Whether one of the names is this queue. A name that ends in `*` stands for every queue with that prefix. */
export function isQueueAmong(names: readonly string[], taskQueue: string): boolean {
  return names.some((name) => (name.endsWith('*') ? taskQueue.startsWith(name.slice(0, -1)) : taskQueue === name));
}
