// Artifacts of executions: listed by execution, and downloaded as they are.

import { z } from 'zod';
import { artifactUri } from '../../artifact/artifacts.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import { executionRef } from '../../protocol/identifier.ts';
import { pageOf, pageQuery, uuidCursor } from '../../protocol/page.ts';
import { artifactSchema } from '../../protocol/step-output.ts';
import type { ArtifactRow } from '../../store/artifact-port.ts';
import { page } from '../cursor.ts';
import type { RouteParts } from '../parts.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

const common = { tag: 'Artifacts', access: 'workflows:read', method: 'GET' } as const;

export function artifactRoutes({ artifacts, store }: Pick<RouteParts, 'artifacts' | 'store'>): RouteSpec[] {
  return [
    defineRoute({
      ...common,
      path: '/api/v1/executions/:executionId/artifacts',
      summary: 'List the artifacts of an execution',
      notFound: 'EXECUTION_NOT_FOUND',
      params: z.object({ executionId: executionRef }),
      query: z.strictObject({ limit: pageQuery.limit, cursor: uuidCursor.optional() }),
      responses: { 200: pageOf(artifactSchema) },
      async handle({ params: { executionId }, query: { limit, cursor }, caller }) {
        const { tenantId } = caller;
        const isTheirs = (await store.executionGet({ tenantId, executionId })) !== null;
        if (!isTheirs) throw new PawlError('EXECUTION_NOT_FOUND', `there is no execution ${executionId}`);
        return page(
          limit,
          (limit) => artifacts.list(tenantId, executionId, { afterId: cursor ?? null, limit }),
          ({ artifactId }) => artifactId,
          (rows) => rows.map(presentArtifact),
        );
      },
    }),
    defineRoute({
      ...common,
      path: '/api/v1/artifacts/:artifactId',
      summary: 'The bytes of an artifact',
      sensitive: true,
      notFound: 'ARTIFACT_NOT_FOUND',
      params: z.object({ artifactId: z.uuid() }),
      query: z.strictObject({}),
      responses: { 200: null },
      sends: '*/*',
      async handle({ params: { artifactId }, caller }) {
        const { row, content } = await artifacts.open(caller.tenantId, artifactId);
        return {
          status: 200,
          stream: content,
          headers: {
            'content-type': row.contentType,
            'content-length': String(row.sizeBytes),
            // A name is a workflow's data: no browser may show it as one of our pages.
            'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(row.name)}`,
            'x-artifact-sha256': row.sha256,
          },
        };
      },
    }),
  ];
}

function presentArtifact({ createdAt, expiresAt, tenantId: _, ...row }: ArtifactRow) {
  return {
    ...row,
    uri: artifactUri(row.artifactId),
    createdAt: new Date(createdAt).toISOString(),
    ...(expiresAt === null ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
  };
}
