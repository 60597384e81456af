// Plans whose steps name task queues, for the tests of workers.

import type { JsonObject } from '../../src/core/json/json.ts';

export function planOf(planId: string, steps: readonly JsonObject[], environmentId = 'test'): JsonObject {
  return {
    metadata: {
      planId,
      planVersion: '1',
      createdAt: '2026-02-22T10:00:00Z',
      createdBy: 'tests',
      schemaVersion: 'v1',
    },
    scope: { tenantId: 'acme', projectId: 'p', environmentId, repoSha: 's' },
    steps: steps.map((step) => ({ type: 'SCORE', inputs: {}, timeout: '1m', ...step })),
  };
}

export const on = (taskQueue: string, more: JsonObject = {}): JsonObject => ({ dispatch: { taskQueue, ...more } });
