// Who the caller is: the one route that needs a token but no scope.

import { sessionSchema } from '../../protocol/session.ts';
import type { RouteParts } from '../parts.ts';
import { isoTime, present } from '../present/field.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

export function sessionRoutes({ version }: Pick<RouteParts, 'version'>): RouteSpec[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/session',
      tag: 'Session',
      access: 'authenticated',
      summary: 'The caller: tenant, subject, scopes and roles of the token or key',
      responses: { 200: sessionSchema },
      handle: async ({ caller: { loose, tenantId, subject, scopes, roles, expiresAt, keyExpiresAt } }) => ({
        status: 200,
        body: present({
          mode: loose ? 'loose' : 'strict',
          tenantId,
          subject,
          scopes: [...scopes],
          roles: [...roles],
          expiresAt: isoTime(expiresAt ?? keyExpiresAt ?? null),
          version,
        }),
      }),
    }),
  ];
}
