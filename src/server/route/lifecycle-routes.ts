// Lifecycles: import machines, look at them, draw them.

import type { Json } from '../../core/json/json.ts';
import { lifecycleMermaid } from '../../lifecycle/machine/diagram/mermaid.ts';
import { lifecycleSvg } from '../../lifecycle/machine/diagram/svg.ts';
import type { Machine } from '../../lifecycle/machine/machine.ts';
import {
  diagramQuery,
  lifecycleDetailSchema,
  lifecycleImportAnswer,
  lifecycleImportRequest,
  lifecycleImportShape,
  lifecycleListQuery,
  lifecycleParams,
  lifecycleQuery,
  lifecycleSchema,
  lifecycleVersionQuery,
  lifecycleVersionSchema,
} from '../../protocol/lifecycle.ts';
import { pageOf } from '../../protocol/page.ts';
import { cursorAfter, page, placeOf } from '../cursor.ts';
import type { RouteParts } from '../parts.ts';
import { isoTime } from '../present/field.ts';
import { presentLifecycle, presentLifecycleDetail } from '../present/lifecycle.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

type Parts = Pick<RouteParts, 'lifecycles'>;

const BASE = '/api/v1/lifecycles';
const common = { tag: 'Lifecycles', notFound: 'LIFECYCLE_NOT_FOUND' } as const;
const one = { ...common, method: 'GET', access: 'workflows:read', params: lifecycleParams } as const;

export function lifecycleRoutes(deps: Parts): RouteSpec[] {
  const { lifecycles } = deps;
  return [
    defineRoute({
      ...common,
      access: 'lifecycles:manage',
      method: 'POST',
      path: BASE,
      summary: 'Import a lifecycle and its policies; only a change creates a new version',
      body: lifecycleImportRequest,
      bodyShape: lifecycleImportShape,
      responses: { 200: lifecycleImportAnswer, 201: lifecycleImportAnswer },
      async handle({ body: { definition, policies }, caller, by }) {
        const source = { definition: definition as Json, policies: (policies ?? null) as Json };
        const { warnings, ...imported } = await lifecycles.import(caller.tenantId, source, by);
        const body = { ...imported, ...(warnings.length === 0 ? {} : { warnings }) };
        return { status: imported.changed ? 201 : 200, body };
      },
    }),
    defineRoute({
      ...common,
      access: 'workflows:read',
      method: 'GET',
      path: BASE,
      summary: 'List lifecycles, by env and name, each in its newest version',
      query: lifecycleListQuery,
      responses: { 200: pageOf(lifecycleSchema) },
      handle: ({ query: { limit, cursor }, caller }) =>
        page(
          limit,
          (limit) => lifecycles.list(caller.tenantId, { after: afterOf(cursor), limit }),
          cursorOf,
          (found) => found.map(presentLifecycle),
        ),
    }),
    defineRoute({
      ...one,
      path: `${BASE}/:env/:name`,
      summary: 'A lifecycle with its policies, as they were imported',
      query: lifecycleQuery,
      responses: { 200: lifecycleDetailSchema },
      async handle({ params, query: { version }, caller }) {
        const { row, machine } = await lifecycles.get(caller.tenantId, params, version ?? null);
        return { status: 200, body: presentLifecycleDetail(row, machine) };
      },
    }),
    defineRoute({
      ...one,
      path: `${BASE}/:env/:name/versions`,
      summary: 'The versions of a lifecycle, newest first',
      query: lifecycleVersionQuery,
      responses: { 200: pageOf(lifecycleVersionSchema) },
      async handle({ params, query: { limit, cursor }, caller }) {
        const before = cursor === undefined ? null : Number(cursor);
        return page(
          limit,
          (limit) => lifecycles.versions(caller.tenantId, params, { before, limit }),
          ({ version }) => String(version),
          (versions) => versions.map(({ createdAt, ...version }) => ({ ...version, importedAt: isoTime(createdAt) })),
        );
      },
    }),
    diagramRoute(deps, 'svg', 'image/svg+xml; charset=utf-8', lifecycleSvg),
    diagramRoute(deps, 'mmd', 'text/vnd.mermaid; charset=utf-8', lifecycleMermaid),
  ];
}

function diagramRoute(
  { lifecycles }: Parts,
  extension: string,
  contentType: string,
  draw: (machine: Machine, options: { current?: string | undefined }) => string,
): RouteSpec {
  return defineRoute({
    ...one,
    path: `${BASE}/:env/:name/diagram.${extension}`,
    summary: `The lifecycle as a picture (${extension}), with the state of an instance marked if you name one`,
    query: diagramQuery,
    responses: { 200: null },
    sends: contentType.split(';')[0]!,
    async handle({ params, query: { version, externalRef }, caller }) {
      const { tenantId } = caller;
      const instance = externalRef === undefined ? null : await lifecycles.instance(tenantId, params, externalRef);
      const { machine } = await lifecycles.get(tenantId, params, instance?.version ?? version ?? null);
      const headers = {
        'content-type': contentType,
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      };
      return { status: 200, headers, body: draw(machine, { current: instance?.state }) };
    },
  });
}

/** Opaque to clients: where the page ended. */
const cursorOf = ({ env, name }: { env: string; name: string }): string => cursorAfter(`${env}\n${name}`);

function afterOf(cursor: string | undefined): { env: string; name: string } | null {
  if (cursor === undefined) return null;
  const [env = '', name = ''] = placeOf(cursor).split('\n');
  return { env, name };
}
