// OpenAPI 3.1, made from the very declarations that requests are checked with.

import { z } from 'zod';
import { errorEnvelopeSchema } from '../protocol/error.ts';
import { SCOPES } from '../protocol/scope.ts';
import { type RouteSpec, scopesOf } from './route.ts';

type JsonSchema = Record<string, unknown>;

export function openApiOf(routes: readonly RouteSpec[], about: { version: string; description: string }): JsonSchema {
  const components: Record<string, JsonSchema> = {};
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, components) };
  }
  const error = schemaOf(errorEnvelopeSchema, 'output', components);
  return {
    openapi: '3.1.0',
    info: { title: 'Pawl', ...about },
    paths,
    components: {
      schemas: sorted(components),
      responses: { Error: { description: 'Refused', content: { 'application/json': { schema: error } } } },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: `Scopes: ${SCOPES.join(', ')}` },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
      },
    },
  };
}

function operationOf(route: RouteSpec, components: Record<string, JsonSchema>): JsonSchema {
  const { summary, tag, access, params, query, body, responses, bodyKind } = route;
  const answers = Object.entries(responses).map(([status, schema]) => [
    status,
    {
      description: Number(status) < 400 ? 'Done' : 'Not now',
      ...answerContent(route, Number(status), schema, components),
    },
  ]);
  const requestBody = body === undefined ? undefined : contentOf(bodyKind, schemaOf(body, 'input', components));
  return {
    summary,
    tags: [tag],
    operationId: operationId(route),
    parameters: [...parametersOf('path', params, components), ...parametersOf('query', query, components)],
    ...(requestBody === undefined ? {} : { requestBody: { content: requestBody } }),
    responses: { ...Object.fromEntries(answers), default: { $ref: '#/components/responses/Error' } },
    ...(access === 'public'
      ? { security: [] }
      : {
          security: [...scopesOf(route).map((scope) => ({ bearer: [scope] })), { apiKey: [] }],
          'x-scope': access,
        }),
  };
}

function answerContent(
  { sends }: RouteSpec,
  status: number,
  schema: z.ZodType | null,
  components: Record<string, JsonSchema>,
): { content?: JsonSchema } {
  const content = {
    ...(schema === null ? {} : jsonContent(schemaOf(schema, 'output', components))),
    ...(sends === undefined || status !== 200 ? {} : { [sends]: { schema: { type: 'string' } } }),
  };
  return Object.keys(content).length === 0 ? {} : { content };
}

const jsonContent = (schema: JsonSchema) => ({ 'application/json': { schema } });
const contentOf = (kind: RouteSpec['bodyKind'], schema: JsonSchema) =>
  kind === 'any' ? { '*/*': { schema } } : jsonContent(schema);

const operationId = ({ method, path }: RouteSpec): string =>
  `${method.toLowerCase()}${path
    .replace('/api/v1', '')
    .split(/[/:.-]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')}`;

function parametersOf(where: 'path' | 'query', schema: z.ZodType | undefined, components: Record<string, JsonSchema>) {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(schema, 'input', components) as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }));
}

/** Schemas with an id become components that others refer to. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', components: Record<string, JsonSchema>): JsonSchema {
  const {
    $schema: _dialect,
    $defs = {},
    ...json
  } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
  }) as JsonSchema & { $defs?: Record<string, JsonSchema> };
  for (const [id, definition] of Object.entries($defs)) components[id] = pointed(definition);
  const { id, ...inline } = json as JsonSchema & { id?: string };
  if (id === undefined) return pointed(inline);
  const $ref = `#/components/schemas/${id}`;
  // What refers to itself refers to the root of its own document.
  const recursive = JSON.stringify(pointed(inline)).replaceAll('"$ref":"#"', `"$ref":${JSON.stringify($ref)}`);
  components[id] = JSON.parse(recursive) as JsonSchema;
  return { $ref };
}

function pointed(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === 'id' && typeof value === 'string' ? undefined : value,
  );
  return JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/')) as JsonSchema;
}

const sorted = <Value>(record: Record<string, Value>): Record<string, Value> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
