// JSON values as types, canonical text (for checksums: the same value gives the same bytes whatever the key order was),
// and a prototype-free object, so that no key of a user's can reach `Object.prototype` (S8).

export type JsonPrimitive = string | number | boolean | null;
export type Json = JsonPrimitive | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/** Keys sorted at every level, no white space. `undefined` members are left out, as JSON.stringify does. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(inKeyOrder(value));
}

/** A copy rather than a replacer of JSON.stringify, which takes twice as long. */
function inKeyOrder(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(inKeyOrder);
  const source = value as Record<string, unknown>;
  const sorted: Record<string, unknown> = {};
  for (const key of Object.keys(source).sort()) {
    if (key !== '__proto__') sorted[key] = inKeyOrder(source[key]);
    else Object.defineProperty(sorted, key, { value: inKeyOrder(source[key]), enumerable: true });
  }
  return sorted;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

export function emptyRecord<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>;
}

export function jsonType(value: Json): 'null' | 'array' | 'object' | 'string' | 'number' | 'boolean' {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as 'object' | 'string' | 'number' | 'boolean';
}

/** The approximate length of the value's JSON text. Stops counting past `atMost`. */
export function weightOf(value: Json, atMost: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (value === null || typeof value !== 'object') return 8;
  let weight = 2;
  for (const key in value) {
    weight += key.length + 4 + weightOf((value as JsonObject)[key]!, atMost - weight);
    if (weight > atMost) break;
  }
  return weight;
}
