// Who asks: the one route that needs a proof and no scope.

import { sessionSchema } from '../../protocol/session.ts';
import { isoTime, present } from '../present/execution.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

export function sessionRoutes(version: string): RouteSpec[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/session',
      tag: 'Session',
      access: 'authenticated',
      summary: 'Who asks: tenant, subject, scopes and roles of the token or key',
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
