// Decides which user-supplied JSON Schemas may run on the event loop: small ones, with keywords whose cost is bounded by the size
// of schema and value (S4). A pattern counts if its time is bounded (plain-pattern.ts), a reference if it leads to a definition
// of the same schema and never back to itself. Anything else, and malformed schemas, go to a process that can be killed.

import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts';
import { patternPower } from './plain-pattern.ts';
import { compilePlainSchema, type SuppliedSchema } from './supplied-schema.ts';

export interface PlainSchema {
  readonly check: SuppliedSchema;
  /** The number of values in the schema, with every reference expanded. */
  readonly size: number;
  /** The power of the value's length that bounds the time of a check. */
  readonly power: number;
}

/** Compiles in a few milliseconds. */
const MAX_SIZE = 150;
/** Schema size times value length: checked well below 50 ms, even if everything is wrong. */
const MAX_COST = 500_000;

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
const FORMATS = new Set(['date-time', 'date', 'email', 'uri', 'uuid']);

const REFERENCE = /^#\/(\$defs|definitions)\/([^/~%]+)$/;

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
  ['pattern', (value) => typeof value === 'string' && patternPower(value) !== null],
  ['$ref', (value) => typeof value === 'string' && REFERENCE.test(value)],
  ['$defs', isProperties],
  ['definitions', isProperties],
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
  // The dialects differ here only in positional items, which older ones spell differently.
  const isOld = typeof $schema === 'string' && /draft-0[4-7]/.test($schema);
  if (isOld || ($schema !== undefined && typeof $schema !== 'string')) return null;
  if (sizeOf(rules) > MAX_SIZE || !isPlain(rules)) return null;
  const { $defs, definitions, ...root } = rules;
  const size = new Expansion({ $defs, definitions }).sizeOf(root, []);
  if (size > MAX_SIZE) return null;
  return { size, power: powerOf(rules), check: compilePlainSchema(rules) };
}

export const isAffordable = ({ size, power }: PlainSchema, valueChars: number): boolean =>
  size * valueChars ** power <= MAX_COST;

/** The worst of its patterns. */
function powerOf(schema: Json): number {
  if (typeof schema !== 'object' || schema === null) return 1;
  return Object.entries(schema).reduce(
    (most, [keyword, value]) =>
      Math.max(most, keyword === 'pattern' && typeof value === 'string' ? (patternPower(value) ?? 1) : powerOf(value)),
    1,
  );
}

/** Follows references. A reference that leads back to itself is endless. */
class Expansion {
  private readonly definitions: Readonly<Record<string, Json | undefined>>;
  private sofar = 0;

  constructor(definitions: Readonly<Record<string, Json | undefined>>) {
    this.definitions = definitions;
  }

  sizeOf(value: Json, within: readonly string[]): number {
    if (++this.sofar > MAX_SIZE || typeof value !== 'object' || value === null) return this.sofar;
    for (const [keyword, child] of Object.entries(value)) {
      if (keyword === '$ref' && typeof child === 'string') this.follow(child, within);
      else this.sizeOf(child, within);
    }
    return this.sofar;
  }

  private follow(reference: string, within: readonly string[]): void {
    const [, place, name] = REFERENCE.exec(reference) ?? [];
    const all = place === undefined ? undefined : this.definitions[place];
    const target = isJsonObject(all) && Object.hasOwn(all, name!) ? all[name!] : undefined;
    if (target === undefined || within.includes(reference)) this.sofar = Number.POSITIVE_INFINITY;
    else this.sizeOf(target, [...within, reference]);
  }
}

const isPlain = (schema: JsonObject): boolean =>
  Object.entries(schema).every(([keyword, value]) => KEYWORDS.get(keyword)?.(value as Json) === true);

/** Stops counting as soon as possible. */
function sizeOf(value: Json | undefined, sofar = 0): number {
  if (typeof value !== 'object' || value === null || sofar > MAX_SIZE) return sofar + 1;
  return Object.values(value).reduce<number>((sum, child) => sizeOf(child, sum), sofar + 1);
}
