// Workflows with so many executions in memory that only wait behind the limit of their action type or tenant that no more of them
// are claimed for now. Without it a backlog behind such a limit would fill the memory of every runner, and others, whose places
// are free, would wait for it (I22). Enough of them stay to keep the limited places busy; when half of these are gone, more are
// claimed. Measured with 20,000 executions of 2 ms behind a limit of 4: as many a second as before, and one of another workflow
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

  /** Takes a new look. True when somebody is no longer in it. */
  look(waiting: readonly WaitingWorkflow[]): boolean {
    const many = this.maxResident / 4;
    // When all of them together are too many, each is one too many.
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

/** So many attempts may wait in memory behind limits; an execution that comes on top of them is set aside. */
export const mostHeldBack = (maxResident: number): number => maxResident / 2;
