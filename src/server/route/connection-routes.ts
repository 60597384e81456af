// Connections: credentials of a tenant for other systems. Secrets come in here and never go out.

import { z } from 'zod';
import type { Authorization } from '../../connection/authorization.ts';
import { settingsOf } from '../../connection/connection.ts';
import type { Connections, ConnectionUse } from '../../connection/connections.ts';
import type { JsonObject } from '../../core/json/json.ts';
import {
  authorizeAnswer,
  type ConnectionKind,
  connectionChange,
  connectionCheckAnswer,
  connectionListQuery,
  connectionParams,
  connectionQuery,
  connectionRequest,
  connectionSchema,
} from '../../protocol/connection.ts';
import { pageOf } from '../../protocol/page.ts';
import type { ConnectionRow } from '../../store/secret-port.ts';
import type { Caller } from '../caller.ts';
import { cursorAfter, placeOf } from '../cursor.ts';
import { defineRoute, type RouteSpec } from '../route.ts';
import { isoTime } from './workflow-view.ts';

export interface ConnectionRoutesDeps {
  readonly connections: Connections;
  readonly authorization: Authorization;
}

const PATH = '/api/v1/connections';
const common = { access: 'connections:manage', tag: 'Connections' } as const;
/** What is shown is no secret. */
const reading = { access: 'workflows:read', orScope: 'connections:manage' } as const;
const ofOne = {
  ...common,
  notFound: 'CONNECTION_NOT_FOUND',
  params: connectionParams,
  query: connectionQuery,
} as const;

export function connectionRoutes(deps: ConnectionRoutesDeps): RouteSpec[] {
  return [
    listRoute(deps),
    createRoute(deps),
    getRoute(deps),
    changeRoute(deps),
    removeRoute(deps),
    checkRoute(deps),
    authorizeRoute(deps),
    callbackRoute(deps),
  ];
}

const keyOf = (
  { tenantId }: Caller,
  { name }: { name: string },
  { principal }: { principal?: string | undefined },
) => ({
  tenantId,
  name,
  principalId: principal ?? '',
});

function listRoute({ connections }: ConnectionRoutesDeps): RouteSpec {
  return defineRoute({
    ...common,
    ...reading,
    method: 'GET',
    path: PATH,
    summary: 'List connections',
    query: connectionListQuery,
    responses: { 200: pageOf(connectionSchema) },
    async handle({ query: { limit, cursor, connector }, caller: { tenantId } }) {
      const params = { tenantId, after: afterOf(cursor), limit: limit + 1, connector: connector ?? null };
      const found = await connections.list(params);
      const page = found.slice(0, limit);
      const next = found.length > limit ? { nextCursor: cursorOf(page.at(-1)!) } : {};
      return { status: 200, body: { data: page.map((row) => connectionView(row)), ...next } };
    },
  });
}

function createRoute({ connections }: ConnectionRoutesDeps): RouteSpec {
  return defineRoute({
    ...common,
    method: 'POST',
    path: PATH,
    summary: 'Create a connection; its secrets are in no answer',
    body: connectionRequest,
    responses: { 201: connectionSchema },
    async handle({ body, caller, by }) {
      const { tenantId: _checked, ...request } = body;
      return {
        status: 201,
        body: connectionView(await connections.create(caller.tenantId, request as JsonObject, by)),
      };
    },
  });
}

function getRoute({ connections }: ConnectionRoutesDeps): RouteSpec {
  return defineRoute({
    ...ofOne,
    ...reading,
    method: 'GET',
    path: `${PATH}/:name`,
    summary: 'A connection, and which workflows and consumers use it',
    responses: { 200: connectionSchema },
    async handle({ params, query, caller }) {
      const key = keyOf(caller, params, query);
      return { status: 200, body: connectionView(await connections.get(key), await connections.uses(key)) };
    },
  });
}

function changeRoute({ connections }: ConnectionRoutesDeps): RouteSpec {
  return defineRoute({
    ...ofOne,
    method: 'PUT',
    path: `${PATH}/:name`,
    summary: 'Rotate the secret of a connection, or change it; what is not mentioned stays',
    body: connectionChange,
    onlyShown: ['status', 'problem', 'lastUsedAt', 'check', 'usedBy', 'createdAt', 'updatedAt'],
    responses: { 200: connectionSchema },
    async handle({ params, query, body, caller, by }) {
      const { tenantId: _checked, ...change } = body as JsonObject;
      return { status: 200, body: connectionView(await connections.change(keyOf(caller, params, query), change, by)) };
    },
  });
}

function removeRoute({ connections }: ConnectionRoutesDeps): RouteSpec {
  return defineRoute({
    ...ofOne,
    method: 'DELETE',
    path: `${PATH}/:name`,
    summary: 'Delete a connection; nodes that name it fail from then on',
    responses: { 204: null },
    async handle({ params, query, caller, by }) {
      await connections.remove(keyOf(caller, params, query), by);
      return { status: 204 };
    },
  });
}

function checkRoute({ connections }: ConnectionRoutesDeps): RouteSpec {
  return defineRoute({
    ...ofOne,
    method: 'POST',
    path: `${PATH}/:name/check`,
    summary: 'Find out whether a connection still works',
    responses: { 200: connectionCheckAnswer },
    async handle({ params, query, caller }) {
      return { status: 200, body: await connections.check(keyOf(caller, params, query)) };
    },
  });
}

function authorizeRoute({ authorization }: ConnectionRoutesDeps): RouteSpec {
  return defineRoute({
    ...ofOne,
    method: 'POST',
    path: `${PATH}/:name/authorize`,
    summary: 'Begin to authorize an oauth2-code connection: where its owner signs in',
    responses: { 200: authorizeAnswer },
    async handle({ params, query, caller }) {
      return { status: 200, body: { authorizationUrl: await authorization.begin(keyOf(caller, params, query)) } };
    },
  });
}

/** Whoever signed in comes back here: their browser has no token of ours, but what we sealed. */
function callbackRoute({ authorization }: ConnectionRoutesDeps): RouteSpec {
  const text = z.string().optional();
  return defineRoute({
    access: 'public',
    tag: 'Connections',
    method: 'GET',
    path: '/oauth/callback',
    summary: 'Where people come back to when they have signed in for a connection',
    anyQuery: true,
    query: z.object({ state: text, code: text, error: text }),
    sends: 'text/plain',
    responses: { 200: null },
    async handle({ query, by }) {
      const name = await authorization.complete(query, by);
      const body = `The connection "${name}" is authorized. You can close this page.\n`;
      return { status: 200, body, headers: { 'content-type': 'text/plain' } };
    },
  });
}

// ── Views ───────────────────────────────────────────────────────────────────────────────────────────────────────────

function connectionView(row: ConnectionRow, usedBy?: readonly ConnectionUse[]): z.input<typeof connectionSchema> {
  const { name, connector, principalId, allowedHosts, isDefault, problem, lastUsedAt, checkedAt, checkOk } = row;
  const message = row.checkMessage === null ? {} : { message: row.checkMessage };
  return {
    ...settingsOf(row),
    name,
    connector,
    kind: row.kind as ConnectionKind,
    ...(principalId === '' ? {} : { principal: principalId }),
    allowedHosts,
    isDefault,
    status: problem === null ? 'ready' : 'unauthorized',
    ...(problem === null ? {} : { problem }),
    ...(lastUsedAt === null ? {} : { lastUsedAt: isoTime(lastUsedAt) }),
    ...(checkedAt === null ? {} : { check: { at: isoTime(checkedAt), ok: checkOk === true, ...message } }),
    ...(usedBy === undefined ? {} : { usedBy: [...usedBy] }),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

const cursorOf = ({ name, principalId }: ConnectionRow): string => cursorAfter(`${name}\n${principalId}`);

function afterOf(cursor: string | undefined): { name: string; principalId: string } {
  const [name = '', principalId = ''] = placeOf(cursor).split('\n');
  return { name, principalId };
}
