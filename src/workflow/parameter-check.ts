// Checks literal parameters against the action's parameterSchema before anything runs. A value with a `{{ template }}` is only
// known at run time, so neither it nor anything that depends on it is judged.

import { type RawProblem, type RawSchema, rawSchema } from '../action/supplied-schema.ts';
import { RecentCache } from '../core/cache/recent-cache.ts';
import { didYouMean } from '../core/expression/problem.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts';
import { nearMiss } from '../core/problem/near-miss.ts';
import { childPointer } from '../core/problem/pointer.ts';
import type { Problem } from '../core/problem/problem.ts';

const CAPACITY = 500;

export class ParameterCheck {
  private readonly schemas = new RecentCache<RawSchema>(CAPACITY);

  /** `path`: the pointer to the parameters. */
  problems(parameterSchema: string, parameters: Json, path: string): Problem[] {
    const hasTemplates = isDynamic(parameters);
    const schema = this.schemas.getOrMake(parameterSchema, 1, () =>
      rawSchema(JSON.parse(parameterSchema) as JsonObject),
    );
    return schema(parameters)
      .filter((problem) => isCertain(problem, parameters, hasTemplates))
      .map((problem) => toProblem(problem, parameterSchema, path));
  }
}

function toProblem({ path: within, message, unknown }: RawProblem, parameterSchema: string, path: string): Problem {
  const problem = { code: 'PARAMETERS_INVALID', path: `${path}${within}`, message };
  if (unknown === undefined) return problem;
  const { properties } = JSON.parse(parameterSchema) as { properties?: object };
  const known = within === '' ? Object.keys(properties ?? {}) : [];
  const suggestion =
    didYouMean(nearMiss(unknown, known)) ?? (known.length === 0 ? undefined : `it takes ${known.join(', ')}`);
  const at = { ...problem, path: childPointer(problem.path, unknown) };
  return suggestion === undefined ? at : { ...at, suggestion };
}

/** Names are never templates, so a missing or unknown name is certain. */
const ABOUT_NAMES = new Set(['required', 'additionalProperties', 'dependentRequired']);
const ALTERNATIVES = /\/(anyOf|oneOf|not|if|then|else)(\/|$)/;

function isCertain({ keyword, path, schemaPath }: RawProblem, parameters: Json, hasTemplates: boolean): boolean {
  if (!hasTemplates) return true;
  if (ALTERNATIVES.test(schemaPath)) return false;
  return ABOUT_NAMES.has(keyword) || !isDynamic(valueAt(parameters, path));
}

function isDynamic(value: Json | undefined): boolean {
  if (typeof value === 'string') return value.includes('{{');
  if (Array.isArray(value)) return value.some(isDynamic);
  return isJsonObject(value) && Object.values(value).some(isDynamic);
}

function valueAt(value: Json, pointer: string): Json | undefined {
  const keys = pointer.split('/').slice(1);
  return keys
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<Json | undefined>((at, key) => (at as Record<string, Json> | undefined)?.[key], value);
}
