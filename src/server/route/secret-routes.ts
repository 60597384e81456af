// Secrets of our own table: set, listed by name, removed; never read over the API.

import { PawlError } from '../../core/error/pawl-error.ts';
import { secretListQuery, secretParams, secretQuery, secretRequest, secretSchema } from '../../protocol/connection.ts';
import { pageOf } from '../../protocol/page.ts';
import type { SecretSummary } from '../../store/secret-port.ts';
import { cursorAfter, page, placeOf } from '../cursor.ts';
import type { RouteParts } from '../parts.ts';
import { isoTime } from '../present/field.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

const PATH = '/api/v1/secrets';
const common = { access: 'secrets:manage', tag: 'Secrets' } as const;
const ofOne = { ...common, notFound: 'SECRET_NOT_FOUND', params: secretParams } as const;

export function secretRoutes({ tableSecrets }: Pick<RouteParts, 'tableSecrets'>): RouteSpec[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: PATH,
      summary: 'List secrets by name; values are never shown',
      sensitive: true,
      query: secretListQuery,
      responses: { 200: pageOf(secretSchema) },
      async handle({ query: { limit, cursor }, caller }) {
        const [name = '', environmentId = ''] = placeOf(cursor).split('\n');
        return page(
          limit,
          (limit) => tableSecrets.list(caller.tenantId, { after: { name, environmentId }, limit }),
          cursorOf,
          (secrets) => secrets.map(secretView),
        );
      },
    }),
    defineRoute({
      ...ofOne,
      method: 'PUT',
      path: `${PATH}/:name`,
      summary: 'Set a secret, which creates its next version',
      body: secretRequest,
      responses: { 200: secretSchema },
      async handle({ params: { name }, body: { value, environmentId = '' }, caller: { tenantId }, by }) {
        return { status: 200, body: secretView(await tableSecrets.set({ tenantId, environmentId, name }, value, by)) };
      },
    }),
    defineRoute({
      ...ofOne,
      method: 'DELETE',
      path: `${PATH}/:name`,
      summary: 'Remove a secret with all its versions',
      query: secretQuery,
      responses: { 204: null },
      async handle({ params: { name }, query: { environmentId = '' }, caller: { tenantId }, by }) {
        if (await tableSecrets.remove({ tenantId, environmentId, name }, by)) return { status: 204 };
        throw new PawlError('SECRET_NOT_FOUND', `no secret "${name}"`);
      },
    }),
  ];
}

const cursorOf = ({ name, environmentId }: SecretSummary): string => cursorAfter(`${name}\n${environmentId}`);

const secretView = ({ name, environmentId, version, createdAt, createdBy }: SecretSummary) => ({
  name,
  ...(environmentId === '' ? {} : { environmentId }),
  version,
  createdAt: isoTime(createdAt),
  createdBy,
});
