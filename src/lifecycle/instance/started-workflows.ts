// Warns about workflows that a machine's policies start and that do not exist. They may still be created, so this is only a
// warning. But a message sent before that is dead at once, and the importer is the one who can know in time.

import type { Problem } from '../../core/problem/problem.ts';
import type { WorkflowLifeStore, WorkflowStanding } from '../../store/workflow-port.ts';
import type { Machine } from '../machine/machine.ts';

export type StandingStore = Pick<WorkflowLifeStore, 'workflowStandings'>;

interface Use {
  readonly workflowId: string;
  readonly path: string;
}

export async function startedWorkflowWarnings(
  store: StandingStore,
  tenantId: string,
  machine: Machine,
): Promise<Problem[]> {
  const uses = usesOf(machine);
  if (uses.length === 0) return [];
  const wanted = uses.map(({ workflowId }) => ({ workflowId, version: null }));
  const standings = await store.workflowStandings({ tenantId, wanted });
  return uses.flatMap((use, index) => warningsAbout(use, standings[index]!));
}

function usesOf({ policies }: Machine): Use[] {
  return policies.flatMap(({ routes }, policy) =>
    routes.flatMap((route, index) => {
      if (route.kind !== 'workflow') return [];
      return [{ workflowId: route.workflow, path: `/policies/policies/${policy}/routes/${index}/workflow` }];
    }),
  );
}

function warningsAbout({ workflowId, path }: Use, { status, isEnabled }: WorkflowStanding): Problem[] {
  if (status === 'Active' && isEnabled) return [];
  const severity = 'warning' as const;
  if (status === null) {
    const message = `there is no workflow \`${workflowId}\``;
    return [{ code: 'WORKFLOW_MISSING', path, message, suggestion: 'publish it before an event needs it', severity }];
  }
  const state = status === 'Active' ? 'disabled' : status;
  const message = `workflow \`${workflowId}\` is ${state}: it cannot be started`;
  return [{ code: 'WORKFLOW_NOT_ACTIVE', path, message, suggestion: 'activate it before an event needs it', severity }];
}
