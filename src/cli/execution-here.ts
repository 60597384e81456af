// An execution of the engine in this process, as a command follows it.

import type { Pawl } from '../main.ts';
import { presentExecution, presentGraph } from '../server/present/execution.ts';
import type { FinalSnapshot, Followed } from './follow.ts';

const TENANT = 'default';

export function executionHere({ executions, result }: Pawl, executionId: string): Followed {
  const inspect = () => executions.inspect(TENANT, executionId);
  return {
    nodes: async () => presentGraph(await inspect()).nodes,
    ended: () => result(executionId),
    cancel: (reason) => executions.cancel(TENANT, executionId, reason),
    async result(): Promise<FinalSnapshot> {
      const inspection = await inspect();
      const { nodes } = presentGraph(inspection);
      return { execution: presentExecution(inspection.view), nodes, outputs: inspection.outputs };
    },
  };
}
