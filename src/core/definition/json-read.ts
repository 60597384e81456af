// Reads the well-formed parts of a definition, so that one pass reports wrong shapes and wrong names together. A value of the
// wrong type reads as absent: the schema check has already reported it.

import { parseDuration } from '../duration/duration.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';

const NOTHING: JsonObject = Object.freeze({});

export function objectIn(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : NOTHING;
}

export function listIn(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

export function textIn(value: Json | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

export function numberIn<T>(value: Json | undefined, otherwise: T): number | T {
  return typeof value === 'number' ? value : otherwise;
}

/** Milliseconds, or a duration as text. */
export function millisecondsIn<T>(value: Json | undefined, otherwise: T): number | T {
  return typeof value === 'string' ? (parseDuration(value) ?? otherwise) : numberIn(value, otherwise);
}

export function flagIn(value: Json | undefined, otherwise: boolean): boolean {
  return typeof value === 'boolean' ? value : otherwise;
}

export function choiceIn<T extends string>(value: Json | undefined, choices: readonly T[], otherwise: T): T {
  return choices.includes(value as T) ? (value as T) : otherwise;
}
