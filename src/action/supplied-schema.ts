// User-supplied JSON Schemas (`triggerSchema`), compiled once: a value in, all its problems out. Both common dialects are
// understood; references to other documents are not fetched.

import { Ajv, type ErrorObject, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Problem } from '../core/problem/problem.ts';

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

/** Throws when the schema is invalid. */
export function compileSuppliedSchema(schema: object): SuppliedSchema {
  const dialect = String((schema as { $schema?: unknown }).$schema ?? '');
  const compiler = /draft-0[4-7]/.test(dialect) ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
  const { $schema: _dialect, ...rules } = schema as Record<string, unknown>;
  return checked(compiler, rules);
}

/** For schemas known to be valid: skips checking them and loading the checker. */
export function compilePlainSchema(rules: object): SuppliedSchema {
  return checked(new Ajv2020({ ...OPTIONS, meta: false, validateSchema: false, addUsedSchema: false }), rules);
}

export interface RawProblem {
  readonly keyword: string;
  /** JSON pointer into the value. */
  readonly path: string;
  /** The place of the rule in the schema. */
  readonly schemaPath: string;
  readonly message: string;
  /** The field that nobody knows. */
  readonly unknown?: string | undefined;
}

export type RawSchema = (value: unknown) => RawProblem[];

/** For a schema of our own, with the broken rules. */
export function rawSchema({ $schema: _dialect, ...rules }: Record<string, unknown>): RawSchema {
  const compiler = new Ajv2020({ ...OPTIONS, meta: false, validateSchema: false, addUsedSchema: false });
  const validate = compiler.compile(rules);
  return (value) => {
    if (validate(value)) return [];
    return (validate.errors ?? []).slice(0, MAX_PROBLEMS).map((error) => {
      const { path, message } = problemOf(error);
      const { additionalProperty: unknown } = error.params as { additionalProperty?: string };
      return { keyword: error.keyword, path, schemaPath: error.schemaPath, message, unknown };
    });
  };
}

function checked(compiler: Ajv | Ajv2020, rules: object): SuppliedSchema {
  const validate = compiler.compile(rules);
  return (value) => (validate(value) ? [] : (validate.errors ?? []).slice(0, MAX_PROBLEMS).map(problemOf));
}

function problemOf({ keyword, instancePath, message = 'is not valid', params }: ErrorObject): Problem {
  const named = params as { additionalProperty?: string; missingProperty?: string; allowedValues?: unknown[] };
  return { code: keyword.toUpperCase(), path: instancePath, message: wording() };

  function wording(): string {
    if (keyword === 'required') return `\`${named.missingProperty}\` is missing`;
    if (keyword === 'additionalProperties') return `\`${named.additionalProperty}\` is not a known field`;
    return named.allowedValues === undefined ? message : `${message}: ${named.allowedValues.map(String).join(', ')}`;
  }
}
