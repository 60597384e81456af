// Which JSON Schemas that users supply may be used on the event loop: small ones, made of keywords whose cost is bounded by the
// size of schema and value. Patterns, references and `uniqueItems` are not among them: a pattern can take forever, references
// make a schema endless (S4). Whatever is not plain, or not even well formed, is for a process that can be killed.

import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts';
import { compilePlainSchema, type SuppliedSchema } from './supplied-schema.ts';

export interface PlainSchema {
  readonly check: SuppliedSchema;
  /** How many values the schema is made of. */
  readonly size: number;
}

/** What compiles in a few milliseconds. */
const MAX_SIZE = 150;
/** Size of the schema times characters of the value: what is checked well below 50 ms, also when everything is wrong. */
const MAX_COST = 500_000;

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
const FORMATS = new Set(['date-time', 'date', 'email', 'uri', 'uuid']);

const isCount = (value: Json): boolean => Number.isInteger(value) && (value as number) >= 0;
const isNumber = (value: Json): boolean => typeof value === 'number';
const isText = (value: Json): boolean => typeof value === 'string';
const isSchema = (value: Json): boolean => typeof value === 'boolean' || (isJsonObject(value) && isPlain(value));
const isSchemas = (value: Json): boolean => Array.isArray(value) && value.length > 0 && value.every(isSchema);
const isNames = (value: Json): boolean =>
  Array.isArray(value) && value.every(isText) && new Set(value).size === value.length;
const isType = (value: Json): boolean =>
  Array.isArray(value) ? isNames(value) && value.length > 0 && value.every(isType) : TYPES.has(value as string);
const isProperties = (value: Json): boolean => isJsonObject(value) && Object.values(value).every(isSchema);
const anything = (): boolean => true;

const KEYWORDS = new Map<string, (value: Json) => boolean>([
  ['type', isType],
  ['properties', isProperties],
  ['required', isNames],
  ['additionalProperties', isSchema],
  ['items', isSchema],
  ['prefixItems', isSchemas],
  ['enum', (value) => Array.isArray(value) && value.length > 0],
  ['const', anything],
  ['minimum', isNumber],
  ['maximum', isNumber],
  ['exclusiveMinimum', isNumber],
  ['exclusiveMaximum', isNumber],
  ['multipleOf', (value) => isNumber(value) && (value as number) > 0],
  ['minLength', isCount],
  ['maxLength', isCount],
  ['minItems', isCount],
  ['maxItems', isCount],
  ['minProperties', isCount],
  ['maxProperties', isCount],
  ['format', (value) => FORMATS.has(value as string)],
  ['allOf', isSchemas],
  ['anyOf', isSchemas],
  ['oneOf', isSchemas],
  ['not', isSchema],
  ['if', isSchema],
  ['then', isSchema],
  ['else', isSchema],
  ['title', isText],
  ['description', isText],
  ['$comment', isText],
  ['default', anything],
  ['examples', Array.isArray],
]);

/** null: not plain. */
export function plainSchema({ $schema, ...rules }: JsonObject): PlainSchema | null {
  // The dialects differ in what we call plain only in the lists of positional items, which older ones do not have.
  const isOld = typeof $schema === 'string' && /draft-0[4-7]/.test($schema);
  if (isOld || ($schema !== undefined && typeof $schema !== 'string')) return null;
  const size = sizeOf(rules);
  if (size > MAX_SIZE || !isPlain(rules)) return null;
  return { size, check: compilePlainSchema(rules) };
}

export const isAffordable = ({ size }: PlainSchema, valueChars: number): boolean => size * valueChars <= MAX_COST;

const isPlain = (schema: JsonObject): boolean =>
  Object.entries(schema).every(([keyword, value]) => KEYWORDS.get(keyword)?.(value as Json) === true);

/** Counts no further than it must. */
function sizeOf(value: Json | undefined, sofar = 0): number {
  if (typeof value !== 'object' || value === null || sofar > MAX_SIZE) return sofar + 1;
  return Object.values(value).reduce<number>((sum, child) => sizeOf(child, sum), sofar + 1);
}
