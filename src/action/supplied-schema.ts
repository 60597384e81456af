// JSON Schemas that users supply (`triggerSchema`), compiled once: a value in, all its problems out. Both dialects that people
// write are understood; references to other documents are not fetched.

import { Ajv, type ErrorObject, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Problem } from '../core/definition/problem.ts';

export type SuppliedSchema = (value: unknown) => Problem[];

const MAX_PROBLEMS = 100;

const FORMATS = {
  'date-time': (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d/i.test(text) && !Number.isNaN(Date.parse(text)),
  date: (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  email: (text: string) => text.length <= 320 && /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text: string) => URL.canParse(text),
  uuid: (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text),
};

const OPTIONS: Options = { allErrors: true, strict: false, logger: false, formats: FORMATS, validateFormats: true };

/** Throws when the schema itself is not one. */
export function compileSuppliedSchema(schema: object): SuppliedSchema {
  const dialect = String((schema as { $schema?: unknown }).$schema ?? '');
  const compiler = /draft-0[4-7]/.test(dialect) ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
  const { $schema: _dialect, ...rules } = schema as Record<string, unknown>;
  const validate = compiler.compile(rules);
  return (value) => (validate(value) ? [] : (validate.errors ?? []).slice(0, MAX_PROBLEMS).map(problemOf));
}

function problemOf({ keyword, instancePath, message = 'is not valid', params }: ErrorObject): Problem {
  const named = params as { additionalProperty?: string; allowedValues?: unknown[] };
  const about = named.additionalProperty === undefined ? '' : `: \`${named.additionalProperty}\``;
  const choices = named.allowedValues === undefined ? '' : `: ${named.allowedValues.map(String).join(', ')}`;
  return { code: keyword.toUpperCase(), path: instancePath, message: `${message}${about}${choices}` };
}
