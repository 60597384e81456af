// Workflows with so many executions in memory, all waiting for the limit of their action type or tenant, that no more of them are
// claimed for now. Otherwise a backlog behind such a limit would fill the memory of every runner, and executions with free places
// would wait for it (I22). Enough stay in memory to keep the limited places busy; when half of them are gone, more are claimed.
// Measured with 20,000 executions of 2 ms behind a limit of 4: the same rate as before, and an execution of another workflow
// takes 0.1 s instead of 14.

import type { WorkflowKey } from '../store/port.ts';

/** A workflow, and how many of its attempts wait behind a limit. */
export interface WaitingWorkflow extends WorkflowKey {
  readonly count: number;
}

export class Crowd {
  private readonly maxResident: number;
  private members = new Map<string, WorkflowKey>();

  constructor(maxResident: number) {
    this.maxResident = maxResident;
  }

  get isEmpty(): boolean {
    return this.members.size === 0;
  }

  list(): WorkflowKey[] {
    return [...this.members.values()];
  }

  /** Looks again. true: a workflow has left the crowd. */
  look(waiting: readonly WaitingWorkflow[]): boolean {
    const many = this.maxResident / 4;
    // When all of them together are too many, none may have more.
    const isTight = waiting.reduce((sum, { count }) => sum + count, 0) >= mostHeldBack(this.maxResident);
    const members = new Map<string, WorkflowKey>();
    for (const { tenantId, workflowId, count } of waiting) {
      const key = `${tenantId}/${workflowId}`;
      const enough = this.members.has(key) ? many / 2 : many;
      if (isTight || count >= enough) members.set(key, { tenantId, workflowId });
    }
    const someLeft = [...this.members.keys()].some((key) => !members.has(key));
    this.members = members;
    return someLeft;
  }
}

/** How many attempts may wait in memory behind limits. Further executions are set aside. */
export const mostHeldBack = (maxResident: number): number => maxResident / 2;
