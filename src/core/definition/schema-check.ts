// Says in plain words, with our codes and near misses, what zod found wrong with the shape of a definition.

import { z } from 'zod';
import { didYouMean } from '../expression/problem.ts';
import type { Json } from '../json/json.ts';
import { childPointer, pointerOf } from './pointer.ts';
import type { Findings } from './problem.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

export function checkSchema(schema: z.ZodType, definition: Json, findings: Findings): void {
  const parsed = schema.safeParse(definition);
  if (parsed.success) return;
  for (const issue of parsed.error.issues) reportIssue(issue, schema, definition, findings);
}

function reportIssue(issue: Issue, schema: z.ZodType, definition: Json, findings: Findings): void {
  const at = pointerOf(issue.path as (string | number)[]);
  const value = valueAt(definition, issue.path);
  if (issue.code === 'unrecognized_keys') return reportKeys(issue.keys, at, keysAt(schema, issue.path), findings);
  if (value === undefined) return findings.error('REQUIRED', at, `\`${String(issue.path.at(-1))}\` is missing`);
  switch (issue.code) {
    case 'invalid_type':
      return findings.error('WRONG_TYPE', at, `must be ${typeName(issue.expected)}, not ${describeValue(value)}`);
    case 'invalid_value':
      return reportChoice(at, value, issue.values.map(String), findings);
    case 'too_small':
    case 'too_big':
      return findings.error('OUT_OF_RANGE', at, describeRange(issue));
    case 'invalid_union':
      return findings.error('WRONG_TYPE', at, `${issue.message}, not ${describeValue(value)}`);
    default:
      return findings.error('BAD_FORMAT', at, `${describeValue(value)} ${issue.message}`);
  }
}

function reportKeys(keys: readonly string[], at: string, known: readonly string[], findings: Findings): void {
  for (const key of keys) {
    const suggestion = didYouMean(findings.nearMiss(key, known)) ?? `allowed here: ${known.join(', ')}`;
    findings.error('UNKNOWN_KEY', childPointer(at, key), `\`${key}\` is not a field here`, suggestion);
  }
}

function reportChoice(at: string, value: Json, choices: readonly string[], findings: Findings): void {
  const near = typeof value === 'string' ? findings.nearMiss(value, choices) : undefined;
  findings.error('NOT_ALLOWED', at, `${describeChoice(choices)}, not ${describeValue(value)}`, didYouMean(near));
}

export function describeChoice(choices: readonly unknown[]): string {
  return `must be ${choices.map((choice) => `"${choice}"`).join(' or ')}`;
}

export function describeRange(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): string {
  const { origin, inclusive = true } = issue;
  const isSized = origin === 'string' || origin === 'array';
  const unit = origin === 'string' ? 'characters' : 'items';
  if (issue.code === 'too_big') {
    if (isSized) return `must not be longer than ${issue.maximum} ${unit}`;
    return `must be ${inclusive ? 'at most' : 'less than'} ${issue.maximum}`;
  }
  if (isSized) return issue.minimum === 1 ? 'must not be empty' : `must have at least ${issue.minimum} ${unit}`;
  return `must be ${inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
}

export function typeName(expected: string): string {
  switch (expected) {
    case 'record':
    case 'object':
      return 'an object';
    case 'array':
      return 'an array';
    case 'int':
      return 'a whole number';
    default:
      return `a ${expected}`;
  }
}

function describeValue(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function valueAt(definition: Json, path: Path): Json | undefined {
  let value: Json | undefined = definition;
  for (const key of path) value = (value as Record<PropertyKey, Json>)[key];
  return value;
}

/** The fields of the object schema that stands at the path. Only the kinds that our three schemas are made of. */
function keysAt(schema: z.ZodType, path: Path): string[] {
  let at: unknown = schema;
  for (const key of path) at = inner(unwrap(at), key);
  return Object.keys((unwrap(at) as z.ZodObject).shape).filter((key) => !key.startsWith('$'));
}

function inner(schema: unknown, key: PropertyKey): unknown {
  if (schema instanceof z.ZodObject) return schema.shape[String(key)];
  if (schema instanceof z.ZodArray) return schema.element;
  return (schema as z.ZodRecord).valueType;
}

function unwrap(schema: unknown): unknown {
  return schema instanceof z.ZodOptional ? schema.unwrap() : schema;
}
