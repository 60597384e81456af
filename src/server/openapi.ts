// OpenAPI 3.1, generated from the declarations that requests are checked with.

import { errorEnvelopeSchema } from '../protocol/error.ts';
import { SCOPES } from '../protocol/scope.ts';
import { bodyExample } from './openapi-example.ts';
import { type JsonSchema, SchemaBook } from './openapi-schema.ts';
import { NEVER_EMPTY } from './request.ts';
import { type RouteSpec, scopesOf } from './route.ts';

export interface About {
  readonly version: string;
  readonly description: string;
  readonly license: string;
  /** Requests need no token, but may send one. */
  readonly isLoose?: boolean;
}

export function openApiOf(routes: readonly RouteSpec[], about: About): JsonSchema {
  const { version, description, license, isLoose = false } = about;
  const book = new SchemaBook();
  const paths: Record<string, Record<string, JsonSchema>> = {};
  const described = routes.filter(({ isPage }) => isPage !== true);
  for (const route of described) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, path, book, isLoose) };
  }
  const error = book.answer(errorEnvelopeSchema);
  return {
    openapi: '3.1.0',
    info: { title: 'Pawl', version, description, license: { name: license, identifier: license } },
    servers: [{ url: '/', description: 'the server that this document was read from' }],
    tags: [...new Set(described.map(({ tag }) => tag))].map((name) => ({ name, description: `${name}.` })),
    paths,
    components: {
      schemas: book.components(),
      responses: { Error: { description: 'Refused', content: { 'application/json': { schema: error } } } },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: `Scopes: ${SCOPES.join(', ')}` },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
      },
    },
  };
}

function operationOf(route: RouteSpec, path: string, book: SchemaBook, isLoose: boolean): JsonSchema {
  const { summary, tag, params, query, description } = route;
  const requestBody = requestBodyOf(route, path, book);
  return {
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    operationId: operationId(route),
    parameters: [...parametersOf('path', params, book), ...parametersOf('query', query, book)],
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: { ...answersOf(route, book), ...refusalsOf(route) },
    ...securityOf(route, isLoose),
  };
}

function requestBodyOf(route: RouteSpec, path: string, book: SchemaBook): JsonSchema | undefined {
  const { body, bodyShape = body, bodyKind = 'json' } = route;
  if (bodyShape === undefined) return undefined;
  const example = bodyExample(route.method, path);
  const content = {
    schema: bodyShape === body ? book.body(body) : book.shape(bodyShape),
    ...(example === undefined ? {} : { example }),
  };
  return {
    // An absent body counts as empty; the schema decides whether that is fine (request.ts).
    required: !bodyShape.safeParse({}).success,
    content: { [bodyKind === 'json' ? 'application/json' : '*/*']: content },
  };
}

function answersOf({ responses, sends }: RouteSpec, book: SchemaBook): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(responses).map(([status, schema]) => {
      const content = {
        ...(schema === null ? {} : { 'application/json': { schema: book.answer(schema) } }),
        ...(sends === undefined || status !== '200' ? {} : { [sends]: { schema: { type: 'string' } } }),
      };
      const description = Number(status) < 400 ? 'Done' : 'Not now';
      return [status, { description, ...(Object.keys(content).length === 0 ? {} : { content }) }];
    }),
  );
}

/** Statuses that every route of this kind can answer are named; the rest by their class. */
function refusalsOf({ access, params, body, unlimited, anyQuery }: RouteSpec): Record<string, JsonSchema> {
  const statuses = [
    ...(anyQuery === true && body === undefined ? [] : ['400']),
    ...(access === 'public' ? [] : ['401', '403']),
    ...(params === undefined ? [] : ['404']),
    ...(body === undefined ? [] : ['413', '415']),
    ...(access === 'public' || unlimited === true ? [] : ['429']),
    '4XX',
    '5XX',
  ];
  return Object.fromEntries(statuses.map((status) => [status, { $ref: '#/components/responses/Error' }]));
}

function securityOf(route: RouteSpec, isLoose: boolean): JsonSchema {
  const { access, role } = route;
  if (access === 'public') return { security: [] };
  const bearers = access === 'authenticated' ? [{ bearer: [] }] : scopesOf(route).map((scope) => ({ bearer: [scope] }));
  const needed = { 'x-scope': access, ...(role === undefined ? {} : { 'x-role': role }) };
  return { security: [...(isLoose ? [{}] : []), ...bearers, { apiKey: [] }], ...needed };
}

const operationId = ({ method, path }: RouteSpec): string =>
  `${method.toLowerCase()}${path
    .replace('/api/v1', '')
    .split(/[/:.-]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')}`;

function parametersOf(where: 'path' | 'query', schema: RouteSpec['query'], book: SchemaBook): JsonSchema[] {
  if (schema === undefined) return [];
  const { properties, required } = book.parameters(schema);
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    ...(description === undefined ? {} : { description }),
    ...(where === 'query' && !required.includes(name) ? { allowEmptyValue: !NEVER_EMPTY.has(name) } : {}),
    schema: rest,
  }));
}
