// API keys of the caller's tenant: list, make, revoke. Nobody gives a key more than they have themselves.

import { z } from 'zod';
import { PawlError } from '../../core/error/pawl-error.ts';
import { keyRequest, keySchema, newKeySchema } from '../../protocol/key.ts';
import type { Limits } from '../../protocol/limit.ts';
import { pageOf, shortListQuery } from '../../protocol/page.ts';
import { createApiKey, revokeApiKey } from '../auth/api-key.ts';
import type { Caller } from '../caller.ts';
import type { RouteParts } from '../parts.ts';
import { isoTime, parsed, present } from '../present/field.ts';
import { defineRoute, type RouteSpec } from '../route.ts';
import { shortList } from '../short-list.ts';

const BASE = '/api/v1/admin/keys';
const common = { tag: 'Admin', access: 'admin', notFound: 'KEY_NOT_FOUND' } as const;

export function keyRoutes({ store }: Pick<RouteParts, 'store'>): RouteSpec[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: BASE,
      summary: 'API keys of this tenant, without the keys themselves',
      sensitive: true,
      query: z.object(shortListQuery),
      responses: { 200: pageOf(keySchema) },
      async handle({ query, caller: { tenantId } }) {
        const keys = await store.apiKeyList({ tenantId });
        const data = keys.map(({ createdAt, expiresAt, revokedAt, id, name, scopes, roles, limits }) =>
          present({
            ...{ id, name, scopes, roles },
            limits: parsed(limits) as Limits | undefined,
            createdAt: isoTime(createdAt),
            expiresAt: isoTime(expiresAt),
            revokedAt: isoTime(revokedAt),
          }),
        );
        return { status: 200, body: shortList(data, ({ id }) => String(id), query) };
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: BASE,
      summary: 'Create an API key; only this answer contains it',
      body: keyRequest,
      responses: { 201: newKeySchema },
      async handle({ body: { name, scopes, roles, limits, expiresAt }, caller, by }) {
        refuseMore(caller, scopes, roles);
        const until = expiresAt === undefined ? null : Date.parse(expiresAt);
        const key = { tenantId: caller.tenantId, name, scopes, roles, limits, expiresAt: until };
        return { status: 201, body: await createApiKey(store, key, by) };
      },
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: `${BASE}/:keyId`,
      summary: 'Revoke an API key',
      params: z.object({ keyId: z.guid() }),
      responses: { 204: null },
      async handle({ params: { keyId: id }, caller: { tenantId }, by }) {
        if (!(await revokeApiKey(store, { tenantId, id }, by))) throw new PawlError('KEY_NOT_FOUND', `no key ${id}`);
        return { status: 204 };
      },
    }),
  ];
}

function refuseMore(caller: Caller, scopes: readonly string[], roles: readonly string[]): void {
  const more = [
    ...scopes.filter((scope) => !caller.scopes.has(scope as never)),
    ...roles.filter((role) => !caller.roles.has(role as never)),
  ];
  if (more.length > 0) throw new PawlError('FORBIDDEN', `a key cannot have more than you: ${more.join(', ')}`);
}
