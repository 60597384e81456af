// Finds the resource that a pasted text names: an id, a requestId or a reference.

import { isUuid } from '../../core/id/id.ts';
import { type FoundJson, findQuery, foundSchema } from '../../protocol/find.ts';
import { executionRef } from '../../protocol/identifier.ts';
import { pageOf } from '../../protocol/page.ts';
import { workflowRef } from '../../protocol/workflow.ts';
import type { RouteParts } from '../parts.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

export function findRoutes({ store }: Pick<RouteParts, 'store'>): RouteSpec[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/find',
      tag: 'Search',
      access: 'workflows:read',
      summary:
        'What a text belongs to, exactly: an id, a requestId, the reference of an instance, the code of a consumer',
      query: findQuery,
      responses: { 200: pageOf(foundSchema) },
      async handle({ query: { text }, caller: { tenantId } }) {
        const found = await store.findText({ tenantId, text, uuid: uuidIn(text) });
        return { status: 200, body: { data: found as FoundJson[] } };
      },
    }),
  ];
}

/** A uuid, `run_…` or `wf_…`. */
function uuidIn(text: string): string | null {
  const lower = text.toLowerCase();
  const workflow = workflowRef(lower);
  if ('uid' in workflow) return workflow.uid;
  const execution = executionRef.safeParse(lower);
  if (execution.success) return execution.data;
  return isUuid(lower) ? lower : null;
}
