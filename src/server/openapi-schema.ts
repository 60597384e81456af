// The schemas of the OpenAPI document: the zod schemas of requests and answers as JSON Schema. Schemas with an id become
// components. One rule of the server is added here: an optional field of a body may be null.

import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

export class SchemaBook {
  readonly #components = new Map<string, JsonSchema>();

  /** In the order of their names. */
  components(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  answer(schema: z.ZodType): JsonSchema {
    return this.#add(jsonSchemaOf(schema, 'output'), (part) => part);
  }

  parameters(schema: z.ZodType): { properties: Record<string, JsonSchema>; required: readonly string[] } {
    const { properties = {}, required = [] } = this.#add(jsonSchemaOf(schema, 'input'), (part) => part) as {
      properties?: Record<string, JsonSchema>;
      required?: readonly string[];
    };
    return { properties, required };
  }

  /** For a body that another layer reads, where null is a value. */
  shape(schema: z.ZodType): JsonSchema {
    return this.#add(jsonSchemaOf(schema, 'input'), (part) => part);
  }

  body(schema: z.ZodType): JsonSchema {
    return this.#add(jsonSchemaOf(schema, 'input'), withNulls);
  }

  #add({ $schema: _dialect, $defs = {}, ...json }: Converted, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
    const { id, ...inline } = json as JsonSchema & { id?: string };
    // A schema that refers to itself refers to the root of its own document.
    const root = id === undefined ? '#' : `#/$defs/${id}`;
    const all = id === undefined ? $defs : { ...$defs, [id]: inline };
    const names = this.#names(all, change);
    const renamed = (schema: JsonSchema): JsonSchema => pointed(change(schema), names, root);
    for (const [name, definition] of Object.entries(all)) this.#components.set(names.get(name)!, renamed(definition));
    return id === undefined ? renamed(inline) : { $ref: `#/components/schemas/${names.get(id)}` };
  }

  /** The input and the output form of a schema may differ; each then gets its own component. */
  #names(definitions: Record<string, JsonSchema>, change: (schema: JsonSchema) => JsonSchema): Map<string, string> {
    const plain = new Map(Object.keys(definitions).map((name) => [name, name]));
    return new Map(
      Object.entries(definitions).map(([name, definition]) => {
        const known = this.#components.get(name);
        const own = JSON.stringify(pointed(change(definition), plain, `#/$defs/${name}`));
        return [name, known === undefined || JSON.stringify(known) === own ? name : `${name}Input`];
      }),
    );
  }
}

type Converted = JsonSchema & { $defs?: Record<string, JsonSchema> };

function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): Converted {
  return z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-2020-12' }) as Converted;
}

function pointed(schema: JsonSchema, names: ReadonlyMap<string, string>, root: string): JsonSchema {
  const text = JSON.stringify(schema, (key, value: unknown) => {
    if (key === 'id' && typeof value === 'string') return undefined;
    if (key !== '$ref' || typeof value !== 'string') return value;
    const [, name] = /^#\/\$defs\/(.+)$/.exec(value === '#' ? root : value) ?? [];
    return name === undefined ? value : `#/components/schemas/${names.get(name) ?? name}`;
  });
  return JSON.parse(text) as JsonSchema;
}

/**
 * Many clients write null for an omitted field, and the server accepts that (request.ts). Inside `anyOf` it does not, because
 * the intended form would be unclear.
 */
function withNulls(schema: JsonSchema): JsonSchema {
  const {
    properties,
    required = [],
    oneOf,
    items,
  } = schema as {
    properties?: Record<string, JsonSchema>;
    required?: readonly string[];
    oneOf?: readonly JsonSchema[];
    items?: JsonSchema;
  };
  return {
    ...schema,
    ...(oneOf === undefined ? {} : { oneOf: oneOf.map(withNulls) }),
    ...(items === undefined ? {} : { items: withNulls(items) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, field]) => {
              const inner = withNulls(field);
              return [name, required.includes(name) ? inner : orNull(inner)];
            }),
          ),
        }),
  };
}

function orNull({ description, default: preset, ...field }: JsonSchema): JsonSchema {
  const about = {
    ...(description === undefined ? {} : { description }),
    ...(preset === undefined ? {} : { default: preset }),
  };
  // This field already accepts null.
  if (Object.keys(field).length === 0) return about;
  const { type, anyOf } = field as { type?: string; anyOf?: readonly JsonSchema[] };
  if (type !== undefined && !('enum' in field) && !('const' in field)) {
    return { ...about, ...field, type: [...new Set([type, 'null'].flat())] };
  }
  if (anyOf?.some((option) => option.type === 'null')) return { ...about, ...field };
  return { ...about, anyOf: [...(anyOf ?? [field]), { type: 'null' }] };
}
