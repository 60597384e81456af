// Connections: credentials of a tenant for other systems. Secrets come in here and never go out.

import { z } from 'zod';
import { settingsOf } from '../../connection/connection.ts';
import type { ConnectionUse } from '../../connection/connections.ts';
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
import { cursorAfter, page, placeOf } from '../cursor.ts';
import type { RouteParts } from '../parts.ts';
import { isoTime } from '../present/field.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

const PATH = '/api/v1/connections';
const common = { access: 'connections:manage', tag: 'Connections' } as const;
/** Reading a connection shows no secrets. */
const reading = { access: 'workflows:read', orScope: 'connections:manage' } as const;
const ofOne = {
  ...common,
  notFound: 'CONNECTION_NOT_FOUND',
  params: connectionParams,
  query: connectionQuery,
} as const;

export function connectionRoutes({
  authorization,
  connections,
}: Pick<RouteParts, 'authorization' | 'connections'>): RouteSpec[] {
  const text = z.string().optional();
  return [
    defineRoute({
      ...common,
      ...reading,
      method: 'GET',
      path: PATH,
      summary: 'List connections',
      query: connectionListQuery,
      responses: { 200: pageOf(connectionSchema) },
      handle: ({ query: { limit, cursor, connector = null }, caller: { tenantId } }) =>
        page(
          limit,
          (limit) => connections.list({ tenantId, after: afterOf(cursor), limit, connector }),
          cursorOf,
          (rows) => rows.map((row) => connectionView(row)),
        ),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: PATH,
      summary: 'Create a connection; no answer ever contains its secrets',
      body: connectionRequest,
      responses: { 201: connectionSchema },
      async handle({ body, caller, by }) {
        const { tenantId: _checked, ...request } = body;
        return {
          status: 201,
          body: connectionView(await connections.create(caller.tenantId, request as JsonObject, by)),
        };
      },
    }),
    defineRoute({
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
    }),
    defineRoute({
      ...ofOne,
      method: 'PUT',
      path: `${PATH}/:name`,
      summary: 'Rotate the secret of a connection, or change it; fields that are left out stay as they are',
      body: connectionChange,
      onlyShown: ['status', 'problem', 'lastUsedAt', 'check', 'usedBy', 'createdAt', 'updatedAt'],
      responses: { 200: connectionSchema },
      async handle({ params, query, body, caller, by }) {
        const { tenantId: _checked, ...change } = body as JsonObject;
        return {
          status: 200,
          body: connectionView(await connections.change(keyOf(caller, params, query), change, by)),
        };
      },
    }),
    defineRoute({
      ...ofOne,
      method: 'DELETE',
      path: `${PATH}/:name`,
      summary: 'Delete a connection; nodes that use it will fail',
      responses: { 204: null },
      async handle({ params, query, caller, by }) {
        await connections.remove(keyOf(caller, params, query), by);
        return { status: 204 };
      },
    }),
    defineRoute({
      ...ofOne,
      method: 'POST',
      path: `${PATH}/:name/check`,
      summary: 'Check whether a connection still works',
      responses: { 200: connectionCheckAnswer },
      async handle({ params, query, caller }) {
        return { status: 200, body: await connections.check(keyOf(caller, params, query)) };
      },
    }),
    defineRoute({
      ...ofOne,
      method: 'POST',
      path: `${PATH}/:name/authorize`,
      summary: 'Start the authorization of an oauth2-code connection: the address where its owner signs in',
      responses: { 200: authorizeAnswer },
      async handle({ params, query, caller }) {
        return { status: 200, body: { authorizationUrl: await authorization.begin(keyOf(caller, params, query)) } };
      },
    }),

    /** The redirect after sign-in: the browser has no token of ours, only our sealed state. */
    defineRoute({
      access: 'public',
      tag: 'Connections',
      method: 'GET',
      path: '/oauth/callback',
      summary: 'The redirect address after a person has signed in for a connection',
      anyQuery: true,
      query: z.object({ state: text, code: text, error: text }),
      sends: 'text/plain',
      responses: { 200: null },
      async handle({ query, by }) {
        const name = await authorization.complete(query, by);
        const body = `The connection "${name}" is authorized. You can close this page.\n`;
        return { status: 200, body, headers: { 'content-type': 'text/plain' } };
      },
    }),
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
