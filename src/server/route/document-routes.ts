// What describes the server: OpenAPI, a reference page and the JSON Schemas of the definition formats; and the dashboard's files.

import { z } from 'zod';
import { PawlError } from '../../core/error/pawl-error.ts';
import { PAGE_PATHS } from '../../protocol/page-path.ts';
import type { Dashboard } from '../page/dashboard.ts';
import { pageAnswer, scriptOf } from '../page/page.ts';
import { type Answer, defineRoute, type RouteSpec } from '../route.ts';

const BODY = `
<header><h1>Pawl API</h1><a href="/">Home</a><a href="/api/v1/openapi.json">OpenAPI 3.1</a></header>
<p class="muted">Every refusal is <code>{ "error": { code, message, correlationId, timestamp, details? } }</code>. Every list is <code>{ data, nextCursor? }</code>.</p>
<main id="main">Loading …</main>
`;

const SCRIPT = scriptOf('reference-script.js');

export const referencePage = (): Answer => pageAnswer('Pawl API', BODY, SCRIPT);

export interface DocumentRoutesDeps {
  /** Made when first asked for: it describes all routes, these included. */
  readonly openApi: () => unknown;
  /** By file name, e.g. `graph.schema.json`. */
  readonly schemas: ReadonlyMap<string, string>;
  readonly dashboard: Dashboard;
}

const common = { method: 'GET', tag: 'Documents', access: 'public', unlimited: true, anyQuery: true } as const;
const anyObject = z.record(z.string(), z.unknown());

export function documentRoutes({ openApi, schemas, dashboard }: DocumentRoutesDeps): RouteSpec[] {
  return [
    defineRoute({
      ...common,
      path: '/api/v1/openapi.json',
      summary: 'This API as OpenAPI 3.1',
      responses: { 200: anyObject },
      handle: async () => ({ status: 200, body: openApi() }),
    }),
    defineRoute({
      ...common,
      path: '/docs',
      summary: 'The API reference for people',
      responses: { 200: null },
      sends: 'text/html',
      handle: async () => referencePage(),
    }),
    defineRoute({
      ...common,
      path: '/schemas',
      summary: 'List the JSON Schemas',
      responses: { 200: z.object({ data: z.array(z.string()) }) },
      handle: async () => ({ status: 200, body: { data: [...schemas.keys()].map((name) => `/schemas/${name}`) } }),
    }),
    defineRoute({
      ...common,
      path: '/schemas/:name',
      summary: 'The JSON Schema of a definition format',
      params: z.object({ name: z.string().regex(/^[a-z0-9.-]{1,100}$/) }),
      responses: { 200: null },
      sends: 'application/schema+json',
      async handle({ params: { name } }) {
        const schema = schemas.get(name) ?? schemas.get(`${name}.schema.json`);
        if (schema === undefined) throw new PawlError('NOT_FOUND', `no schema "${name}"`);
        return { status: 200, headers: { 'content-type': 'application/schema+json; charset=utf-8' }, body: schema };
      },
    }),
    ...PAGE_PATHS.map((path) =>
      defineRoute({
        ...page,
        path,
        summary: 'The dashboard',
        responses: { 200: null },
        sends: 'text/html',
        handle: async () => dashboard.page(),
      }),
    ),
    defineRoute({
      ...page,
      path: '/assets/:file',
      summary: 'A file of the dashboard',
      params: z.object({ file: z.string().regex(/^[\w.-]{1,200}$/) }),
      responses: { 200: null },
      sends: 'text/javascript',
      async handle({ params: { file }, headers }) {
        const answer = dashboard.asset(file, String(headers['accept-encoding'] ?? ''));
        if (answer === null) throw new PawlError('NOT_FOUND', `no file "${file}" in this version of the dashboard`);
        return answer;
      },
    }),
  ];
}

/** They hold no data, so they are for everybody (S2). */
const page = { ...common, isPage: true } as const;
