// Explains the shape problems that zod found, in plain words, with our codes and near misses.

import { z } from 'zod';
import { didYouMean } from '../expression/problem.ts';
import type { Json } from '../json/json.ts';
import { childPointer, pointerOf } from '../problem/pointer.ts';
import type { Findings, Problem } from '../problem/problem.ts';
import { allAtOnce, type Steps } from '../steps/steps.ts';
import { piecesOf, unwrapped } from './schema-pieces.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

export function checkSchema(schema: z.ZodType, definition: Json, findings: Findings): void {
  allAtOnce(checkSchemaInSteps(schema, definition, findings));
}

export function* checkSchemaInSteps(schema: z.ZodType, definition: Json, findings: Findings): Steps<void> {
  for (const piece of piecesOf(schema, definition)) {
    const { issues = [] } = piece.schema.safeParse(piece.value).error ?? {};
    for (const issue of issues) {
      if (piece.elsewhere.includes(issue.path[0]!)) continue;
      reportIssue(issue, piece.place(issue.path), schema, definition, findings);
    }
    yield;
  }
}

function reportIssue(issue: Issue, place: Path, schema: z.ZodType, definition: Json, findings: Findings): void {
  const meant = issue.code === 'invalid_union' ? issue.errors.find(isOfThisForm) : undefined;
  if (meant !== undefined) {
    for (const inner of meant) reportIssue(inner, [...place, ...inner.path], schema, definition, findings);
    return;
  }
  if (issue.code !== 'unrecognized_keys') return findings.add(() => problemOf(issue, place, definition, findings));
  const at = pointerOf(place as (string | number)[]);
  const known = keysAt(schema, place);
  for (const key of issue.keys) findings.add(() => unknownKey(key, at, known, findings));
}

const INSIDE: ReadonlySet<Issue['code']> = new Set(['unrecognized_keys', 'invalid_format', 'custom', 'too_small']);

/** Of several possible forms, the one whose problems lie inside the value: the value has that form, but is malformed. */
function isOfThisForm(issues: readonly Issue[]): boolean {
  return issues.every(({ code, path }) => path.length > 0 || INSIDE.has(code));
}

type KnownIssue = Exclude<Issue, { code: 'unrecognized_keys' }>;

function problemOf(issue: KnownIssue, place: Path, definition: Json, findings: Findings): Problem {
  const path = pointerOf(place as (string | number)[]);
  const value = valueAt(definition, place);
  if (value === undefined) return { code: 'REQUIRED', path, message: `\`${String(place.at(-1))}\` is missing` };
  switch (issue.code) {
    case 'invalid_type':
      return { code: 'WRONG_TYPE', path, message: `must be ${typeName(issue.expected)}, not ${describeValue(value)}` };
    case 'invalid_value':
      return wrongChoice(path, value, issue.values.map(String), findings);
    case 'too_small':
    case 'too_big':
      return { code: 'OUT_OF_RANGE', path, message: describeRange(issue) };
    case 'invalid_union':
      return { code: 'WRONG_TYPE', path, message: `${issue.message}, not ${describeValue(value)}` };
    default:
      return { code: 'BAD_FORMAT', path, message: `${describeValue(value)} ${issue.message}` };
  }
}

function unknownKey(key: string, at: string, known: readonly string[], findings: Findings): Problem {
  const suggestion = didYouMean(findings.nearMiss(key, known)) ?? `allowed here: ${known.join(', ')}`;
  return { code: 'UNKNOWN_KEY', path: childPointer(at, key), message: `\`${key}\` is not a field here`, suggestion };
}

function wrongChoice(path: string, value: Json, choices: readonly string[], findings: Findings): Problem {
  const near = typeof value === 'string' ? findings.nearMiss(value, choices) : undefined;
  const problem = { code: 'NOT_ALLOWED', path, message: `${describeChoice(choices)}, not ${describeValue(value)}` };
  return near === undefined ? problem : { ...problem, suggestion: didYouMean(near)! };
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

/** The fields of the object schema at the path. Handles only the kinds that our three schemas use. */
function keysAt(schema: z.ZodType, path: Path): string[] {
  let at: unknown = schema;
  for (const key of path) at = inner(unwrapped(at), key);
  return formsOf(at)
    .flatMap((form) => (form instanceof z.ZodObject ? Object.keys(form.shape) : []))
    .filter((key) => !key.startsWith('$'));
}

/** The possible forms of a value: those of a union, or the only one. */
function formsOf(schema: unknown): unknown[] {
  const form = unwrapped(schema);
  return form instanceof z.ZodUnion ? form.options.map(unwrapped) : [form];
}

function inner(schema: unknown, key: PropertyKey): unknown {
  if (schema instanceof z.ZodUnion) {
    const isMeant = (form: unknown) => form instanceof (typeof key === 'number' ? z.ZodArray : z.ZodObject);
    return inner(formsOf(schema).find(isMeant), key);
  }
  if (schema instanceof z.ZodObject) return schema.shape[String(key)];
  if (schema instanceof z.ZodArray) return schema.element;
  return (schema as z.ZodRecord).valueType;
}
