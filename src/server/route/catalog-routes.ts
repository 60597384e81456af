// The catalog of connectors and actions (000 §13.4), and what an operator allows of it.

import { z } from 'zod';
import { PawlError } from '../../core/error/pawl-error.ts';
import { actionPatch, actionSchema, connectorPatch, connectorSchema } from '../../protocol/operation.ts';
import { pageOf, shortListQuery } from '../../protocol/page.ts';
import type { AuditStore, Deed } from '../../store/audit-port.ts';
import type { ActionEntry, CatalogStore, ConnectorEntry } from '../../store/catalog-port.ts';
import { isoTime } from '../present/execution.ts';
import { defineRoute, type RouteSpec } from '../route.ts';
import { shortList } from '../short-list.ts';

export interface CatalogRoutesDeps {
  readonly catalog: CatalogStore & Pick<AuditStore, 'audited'>;
  /** The catalog is not as it was. */
  readonly changed?: () => void;
}

const common = { tag: 'Catalog' } as const;
const connector = {
  ...common,
  notFound: 'CONNECTOR_NOT_FOUND',
  params: z.object({ id: z.string().regex(/^[a-z0-9-]{1,100}$/) }),
} as const;
const action = {
  ...common,
  notFound: 'ACTION_NOT_FOUND',
  params: z.object({ id: z.string().regex(/^[A-Za-z0-9._-]{1,200}$/) }),
} as const;
const text = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[^\p{Cc}]+$/u);
const listQuery = z.object(shortListQuery);
const actionQuery = z.object({ connectorId: text, category: text, search: text }).partial().extend(shortListQuery);
const idOf = ({ id }: { readonly id: string }): string => id;

export function catalogRoutes(deps: CatalogRoutesDeps): RouteSpec[] {
  return [...connectorRoutes(deps), ...actionRoutes(deps)];
}

function connectorRoutes({ catalog, changed }: CatalogRoutesDeps): RouteSpec[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/api/v1/connectors',
      access: 'workflows:read',
      summary: 'List connectors',
      query: listQuery,
      responses: { 200: pageOf(connectorSchema) },
      handle: async ({ query }) => ({
        status: 200,
        body: shortList((await catalog.connectorList()).map(presentConnector), idOf, query),
      }),
    }),
    defineRoute({
      ...connector,
      method: 'GET',
      path: '/api/v1/connectors/:id',
      access: 'workflows:read',
      summary: 'One connector',
      responses: { 200: connectorSchema },
      handle: async ({ params: { id } }) => ({ status: 200, body: presentConnector(await connectorOf(catalog, id)) }),
    }),
    defineRoute({
      ...connector,
      method: 'GET',
      path: '/api/v1/connectors/:id/actions',
      access: 'workflows:read',
      summary: 'The actions of a connector',
      query: listQuery,
      responses: { 200: pageOf(actionSchema) },
      async handle({ params: { id }, query }) {
        await connectorOf(catalog, id);
        const found = await catalog.actionList({ connectorId: id });
        return { status: 200, body: shortList(found.map(presentAction), idOf, query) };
      },
    }),
    defineRoute({
      ...connector,
      method: 'PATCH',
      path: '/api/v1/connectors/:id',
      access: 'admin',
      summary: 'Enable or disable a connector',
      body: connectorPatch,
      responses: { 200: connectorSchema },
      async handle({ params: { id }, body, caller: { tenantId }, by }) {
        const work = (store: CatalogStore) => store.connectorUpdate({ id, ...body });
        await catalog.audited({ tenantId, by, work, deed: (found) => (found ? deedOf('connector', id, body) : null) });
        changed?.();
        return { status: 200, body: presentConnector(await connectorOf(catalog, id)) };
      },
    }),
  ];
}

function actionRoutes({ catalog, changed }: CatalogRoutesDeps): RouteSpec[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/api/v1/actions',
      access: 'workflows:read',
      summary: 'List actions',
      query: actionQuery,
      responses: { 200: pageOf(actionSchema) },
      async handle({ query: { limit, cursor, ...filter } }) {
        const found = await catalog.actionList(filter as Parameters<CatalogStore['actionList']>[0]);
        return { status: 200, body: shortList(found.map(presentAction), idOf, { limit, cursor }) };
      },
    }),
    defineRoute({
      ...action,
      method: 'GET',
      path: '/api/v1/actions/:id',
      access: 'workflows:read',
      summary: 'One action with its schemas',
      responses: { 200: actionSchema },
      handle: async ({ params: { id } }) => ({ status: 200, body: presentAction(await actionOf(catalog, id)) }),
    }),
    defineRoute({
      ...action,
      method: 'PATCH',
      path: '/api/v1/actions/:id',
      access: 'admin',
      summary: 'Enable, disable or deprecate an action',
      body: actionPatch,
      responses: { 200: actionSchema },
      async handle({ params: { id }, body, caller: { tenantId }, by }) {
        const work = (store: CatalogStore) => store.actionUpdate({ id, ...body });
        await catalog.audited({ tenantId, by, work, deed: (found) => (found ? deedOf('action', id, body) : null) });
        changed?.();
        return { status: 200, body: presentAction(await actionOf(catalog, id)) };
      },
    }),
  ];
}

const deedOf = (kind: 'connector' | 'action', id: string, changes: object): Deed => ({
  action: `${kind}.update`,
  target: `${kind}/${id}`,
  details: { ...changes },
});

async function connectorOf(catalog: CatalogStore, id: string): Promise<ConnectorEntry> {
  const found = await catalog.connectorGet({ id });
  if (found === null) throw new PawlError('CONNECTOR_NOT_FOUND', `no connector "${id}"`);
  return found;
}

async function actionOf(catalog: CatalogStore, id: string): Promise<ActionEntry> {
  const found = await catalog.actionGet({ id });
  if (found === null) throw new PawlError('ACTION_NOT_FOUND', `no action "${id}"`);
  return found;
}

const presentConnector = (connector: ConnectorEntry) => {
  const { iconUrl, documentationUrl, configSchema, authType, createdAt, ...entry } = connector;
  return {
    ...entry,
    ...(iconUrl === null ? {} : { iconUrl }),
    ...(documentationUrl === null ? {} : { documentationUrl }),
    ...(configSchema === null ? {} : { configSchema: JSON.parse(configSchema) as unknown }),
    ...(authType === null ? {} : { authType }),
    createdAt: isoTime(createdAt),
  };
};

const presentAction = ({ parameterSchema, outputSchema, deprecationNotice, createdAt, ...entry }: ActionEntry) => ({
  ...entry,
  parameterSchema: JSON.parse(parameterSchema) as unknown,
  outputSchema: JSON.parse(outputSchema) as unknown,
  ...(deprecationNotice === null ? {} : { deprecationNotice }),
  createdAt: isoTime(createdAt),
});
