// The catalog of connectors and actions, and the switches with which an operator disables them.

import { z } from 'zod';
import { PawlError } from '../../core/error/pawl-error.ts';
import { label } from '../../protocol/identifier.ts';
import { actionPatch, actionSchema, connectorPatch, connectorSchema } from '../../protocol/operation.ts';
import { pageOf, shortListQuery } from '../../protocol/page.ts';
import { type Deed, EVERY_TENANT } from '../../store/audit-port.ts';
import type { ActionEntry, CatalogStore, ConnectorEntry } from '../../store/catalog-port.ts';
import type { ConnectionRow } from '../../store/secret-port.ts';
import type { RouteParts } from '../parts.ts';
import { isoTime } from '../present/field.ts';
import { defineRoute, type RouteSpec } from '../route.ts';
import { shortList } from '../short-list.ts';

const common = { tag: 'Catalog' } as const;
/** The catalog belongs to the installation: no tenant may change it for the others (S1). */
const ofEveryone = { access: 'admin', role: 'System' } as const;
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
const text = label(100);
const listQuery = z.object(shortListQuery);
const actionQuery = z.object({ connectorId: text, category: text, search: text }).partial().extend(shortListQuery);
const idOf = ({ id }: { readonly id: string }): string => id;

export function catalogRoutes({
  store,
  disabled,
  hasToken,
}: Pick<RouteParts, 'disabled' | 'hasToken' | 'store'>): RouteSpec[] {
  const shown = async (tenantId: string, connectors: readonly ConnectorEntry[]) => {
    const connections = await store.connectionList({
      tenantId,
      after: FIRST,
      limit: MOST_CONNECTIONS,
      connector: null,
    });
    return connectors.map((connector) => ({
      ...presentConnector(connector),
      credential: credentialOf(
        connections.filter((each) => each.connector === connector.id),
        hasToken(tenantId, connector.id),
      ),
    }));
  };
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/api/v1/connectors',
      access: 'workflows:read',
      summary: 'List connectors',
      query: listQuery,
      responses: { 200: pageOf(connectorSchema) },
      handle: async ({ query, caller }) => ({
        status: 200,
        body: shortList(await shown(caller.tenantId, await store.connectorList()), idOf, query),
      }),
    }),
    defineRoute({
      ...connector,
      method: 'GET',
      path: '/api/v1/connectors/:id',
      access: 'workflows:read',
      summary: 'One connector',
      responses: { 200: connectorSchema },
      async handle({ params: { id }, caller }) {
        const [body] = await shown(caller.tenantId, [await connectorOf(store, id)]);
        return { status: 200, body };
      },
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
        await connectorOf(store, id);
        const found = await store.actionList({ connectorId: id });
        return { status: 200, body: shortList(found.map(presentAction), idOf, query) };
      },
    }),
    defineRoute({
      ...connector,
      method: 'PATCH',
      path: '/api/v1/connectors/:id',
      ...ofEveryone,
      summary: 'Enable or disable a connector, for every tenant',
      body: connectorPatch,
      responses: { 200: connectorSchema },
      async handle({ params: { id }, body, by }) {
        const work = (store: CatalogStore) => store.connectorUpdate({ id, ...body });
        await store.audited({
          tenantId: EVERY_TENANT,
          by,
          work,
          deed: (found) => (found ? deedOf('connector', id, body) : null),
        });
        disabled.forget();
        return { status: 200, body: presentConnector(await connectorOf(store, id)) };
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/api/v1/actions',
      access: 'workflows:read',
      summary: 'List actions',
      query: actionQuery,
      responses: { 200: pageOf(actionSchema) },
      async handle({ query: { limit, cursor, ...filter } }) {
        const found = await store.actionList(filter as Parameters<CatalogStore['actionList']>[0]);
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
      handle: async ({ params: { id } }) => ({ status: 200, body: presentAction(await actionOf(store, id)) }),
    }),
    defineRoute({
      ...action,
      method: 'PATCH',
      path: '/api/v1/actions/:id',
      ...ofEveryone,
      summary: 'Enable, disable or deprecate an action, for every tenant',
      body: actionPatch,
      responses: { 200: actionSchema },
      async handle({ params: { id }, body, by }) {
        const work = (store: CatalogStore) => store.actionUpdate({ id, ...body });
        await store.audited({
          tenantId: EVERY_TENANT,
          by,
          work,
          deed: (found) => (found ? deedOf('action', id, body) : null),
        });
        disabled.forget();
        return { status: 200, body: presentAction(await actionOf(store, id)) };
      },
    }),
  ];
}

const deedOf = (kind: 'connector' | 'action', id: string, changes: object): Deed => ({
  action: `${kind}.update`,
  target: `${kind}/${id}`,
  details: { ...changes },
});

async function connectorOf(store: CatalogStore, id: string): Promise<ConnectorEntry> {
  const found = await store.connectorGet({ id });
  if (found === null) throw new PawlError('CONNECTOR_NOT_FOUND', `no connector "${id}"`);
  return found;
}

async function actionOf(store: CatalogStore, id: string): Promise<ActionEntry> {
  const found = await store.actionGet({ id });
  if (found === null) throw new PawlError('ACTION_NOT_FOUND', `no action "${id}"`);
  return found;
}

const FIRST = { name: '', principalId: '' };
const MOST_CONNECTIONS = 1_000;

/** The state of a connector's credentials, never the credentials themselves (S6). */
function credentialOf(connections: readonly ConnectionRow[], isInEnvironment: boolean) {
  const newest = (times: readonly (number | null)[]) => Math.max(...times.map((at) => at ?? 0), 0);
  const good = connections.filter(({ problem }) => problem === null);
  const okAt = newest([
    ...good.map(({ lastUsedAt }) => lastUsedAt),
    ...connections.filter(({ checkOk }) => checkOk === true).map(({ checkedAt }) => checkedAt),
  ]);
  const refusedAt = newest([
    ...connections.filter(({ problem }) => problem !== null).map(({ updatedAt }) => updatedAt),
    ...connections.filter(({ checkOk }) => checkOk === false).map(({ checkedAt }) => checkedAt),
  ]);
  return {
    isSet: isInEnvironment || connections.length > 0,
    ...(okAt === 0 ? {} : { lastOkAt: isoTime(okAt) }),
    ...(refusedAt === 0 ? {} : { lastRefusedAt: isoTime(refusedAt) }),
  };
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

const presentAction = ({
  parameterSchema,
  outputSchema,
  deprecationNotice,
  codes,
  createdAt,
  ...entry
}: ActionEntry) => ({
  ...entry,
  parameterSchema: JSON.parse(parameterSchema) as unknown,
  outputSchema: JSON.parse(outputSchema) as unknown,
  ...(deprecationNotice === null ? {} : { deprecationNotice }),
  ...(codes === null ? {} : { codes }),
  createdAt: isoTime(createdAt),
});
