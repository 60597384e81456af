// Runs a plan of three steps end to end, for `pawl doctor --smoke`: it must be accepted, run, and leave its events. On your own
// database your runners must run it, because this process does not know your actions. On the embedded one this process runs it.

import type { Config } from '../config/config.ts';
import type { JsonObject } from '../core/json/json.ts';
import { createPawl } from '../main.ts';
import { type Finding, unwell, well } from './terminal/finding.ts';

const PATIENCE_MS = 30_000;
const TENANT = 'default';

const step = (stepId: string, inputs: JsonObject, dependsOn: string[]): JsonObject => ({
  stepId,
  type: 'core.echo',
  inputs,
  timeout: '10s',
  dependsOn,
});

const PLAN: JsonObject = {
  metadata: {
    planId: 'pawl-smoke',
    planVersion: '1',
    createdAt: '2026-01-01T00:00:00Z',
    createdBy: 'pawl doctor',
    schemaVersion: 'v1',
  },
  scope: { tenantId: TENANT, projectId: 'pawl', environmentId: 'smoke', repoSha: 'none' },
  steps: [
    step('first', { value: 1 }, []),
    step('second', { value: '{{ steps.first.output.value + 1 }}' }, ['first']),
    step('third', { value: '{{ steps.second.output.value + 1 }}' }, ['second']),
  ],
};

export async function smokeFinding({ database }: Config): Promise<Finding> {
  const pawl = await createPawl({ database, runner: database.url === undefined, isWatched: false });
  try {
    await pawl.publish(PLAN);
    const { executionId } = await pawl.start('pawl-smoke');
    const ended = await pawl.executions.ended(TENANT, executionId, { waitMs: PATIENCE_MS });
    if (ended === null) {
      const next = 'start a runner (`pawl runner`) or a server, and look at it with `pawl describe`';
      return unwell('smoke', `no runner has run ${executionId} within ${PATIENCE_MS / 1_000} s`, next);
    }
    if (ended.status !== 'Succeeded')
      return unwell('smoke', `${executionId} ended as ${ended.status}`, `pawl describe ${executionId}`);
    return well('smoke', `a plan of three steps ran (${executionId})`);
  } finally {
    await pawl.close();
  }
}
