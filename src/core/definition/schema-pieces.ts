// Splits a large value along its schema. zod takes a value whole, and for a list of 90,000 wrong items that blocks the event loop
// for most of a second (S4). Small values stay one piece, and so do values without a schema.

import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';

type Path = readonly PropertyKey[];

export interface Piece {
  readonly schema: z.ZodType;
  readonly value: Json;
  /** Maps a place in the piece to the whole. */
  place(path: Path): Path;
  /** Members that are pieces of their own. They are missing here, which is not a problem. */
  readonly elsewhere: readonly PropertyKey[];
}

const VALUES_PER_PIECE = 500;
const ITEMS_PER_PIECE = 100;

export function* piecesOf(schema: z.ZodType, value: Json, at: Path = []): Generator<Piece> {
  if (isLarge(value)) yield* partsOf(schema, value, at);
  else yield whole(schema, value, at);
}

/** Our schemas ask for at most one entry in a list or record, and each part has one. */
function* partsOf(schema: z.ZodType, value: Json, at: Path): Generator<Piece> {
  const kind = unwrapped(schema);
  if (kind instanceof z.ZodArray && Array.isArray(value)) yield* itemsOf(kind, value, at);
  else if (isRecordOfForms(kind) && isJsonObject(value)) yield* entriesOf(kind, value, at);
  else if (kind instanceof z.ZodObject && isJsonObject(value)) yield* membersOf(kind, value, at);
  else yield whole(schema, value, at);
}

function* itemsOf(schema: z.ZodArray, value: readonly Json[], at: Path): Generator<Piece> {
  for (let from = 0; from < value.length; from += ITEMS_PER_PIECE) {
    const items = value.slice(from, from + ITEMS_PER_PIECE);
    if (isLarge(items)) {
      for (const [index, item] of items.entries()) {
        yield* piecesOf(schema.element as z.ZodType, item, [...at, from + index]);
      }
    } else {
      const place = ([index, ...path]: Path) => [...at, from + Number(index), ...path];
      yield { schema, value: items, place, elsewhere: [] };
    }
  }
}

function* entriesOf(schema: z.ZodRecord, value: JsonObject, at: Path): Generator<Piece> {
  const entries = Object.entries(value);
  for (let from = 0; from < entries.length; from += ITEMS_PER_PIECE) {
    const some = entries.slice(from, from + ITEMS_PER_PIECE);
    const record = Object.fromEntries(some);
    if (isLarge(record)) {
      for (const [key, member] of some) yield* piecesOf(schema.valueType as z.ZodType, member, [...at, key]);
    } else yield whole(schema, record, at);
  }
}

function* membersOf(schema: z.ZodObject, value: JsonObject, at: Path): Generator<Piece> {
  const large = Object.keys(schema.shape).filter((key) => isLarge(value[key]));
  const rest = large.length === 0 ? value : { ...value };
  for (const key of large) delete rest[key];
  yield { ...whole(schema, rest, at), elsewhere: large };
  for (const key of large) yield* partsOf(schema.shape[key] as z.ZodType, value[key]!, [...at, key]);
}

const whole = (schema: z.ZodType, value: Json, at: Path): Piece => ({
  schema,
  value,
  place: (path) => [...at, ...path],
  elsewhere: [],
});

function isRecordOfForms(kind: unknown): kind is z.ZodRecord {
  return kind instanceof z.ZodRecord && !(kind.valueType instanceof z.ZodUnknown);
}

export function unwrapped(schema: unknown): unknown {
  return schema instanceof z.ZodOptional ? schema.unwrap() : schema;
}

const isLarge = (value: Json | undefined): boolean => roomAfter(value, VALUES_PER_PIECE) < 0;

function roomAfter(value: Json | undefined, room: number): number {
  if (typeof value !== 'object' || value === null) return room - 1;
  const keys = Object.keys(value);
  let left = room - 1 - keys.length;
  for (let index = 0; left >= 0 && index < keys.length; index++) {
    left = roomAfter((value as JsonObject)[keys[index]!], left + 1);
  }
  return left;
}
