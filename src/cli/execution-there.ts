// An execution on a server, as a command follows it. If the server goes away, the command waits: the execution goes on without
// it.

import type { Json } from '../core/json/json.ts';
import type { PawlClient } from '../sdk/client.ts';
import type { FinalSnapshot, Followed } from './follow.ts';

/** Tries, one to ten seconds apart: a restarting server is back by then. */
export const PATIENCE = 9;
const PAGE = 1_000;

export function executionThere({ executions }: PawlClient, executionId: string): Followed {
  return {
    nodes: async () => (await executions.graph(executionId)).nodes,
    ended: () => executions.waitFor(executionId),
    cancel: (reason) => executions.cancel(executionId, { reason }),
    async result(): Promise<FinalSnapshot> {
      const [execution, { nodes }] = await Promise.all([executions.get(executionId), executions.graph(executionId)]);
      const outputs = new Map<string, Json>();
      for (let offset = 0; ; offset += PAGE) {
        const { actions = [] } = await executions.get(executionId, { include: ['actions'], limit: PAGE, offset });
        for (const action of actions) {
          if (action.outputs !== undefined) outputs.set(action.nodeId, action.outputs as Json);
        }
        if (actions.length < PAGE) return { execution, nodes, outputs };
      }
    },
  };
}
