// The fields of a document template: the questions of a form and the rules for answers. `required` is checked here; the author's
// own JSON Schema runs in the rendering process, because its patterns may be endless (S4).

import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts';
import type { Problem } from '../core/problem/problem.ts';

/** The path of the schema in a request. */
export const SCHEMA_PATH = '/fields/validation/jsonSchema';

/** null: the answers may be anything. */
export function answersSchemaOf(fields: Json): JsonObject | null {
  const validation = isJsonObject(fields) ? fields.validation : null;
  const schema = isJsonObject(validation) ? validation.jsonSchema : null;
  return isJsonObject(schema) ? schema : null;
}

export function missingAnswers(fields: Json, answers: JsonObject): Problem[] {
  return requiredKeys(fields)
    .filter((key) => !isGiven(Object.hasOwn(answers, key) ? answers[key] : undefined))
    .map((key) => ({ code: 'REQUIRED', path: `/answers/${key}`, message: `\`${key}\` is required` }));
}

function requiredKeys(fields: Json): string[] {
  const list = isJsonObject(fields) ? fields.fields : fields;
  if (!Array.isArray(list)) return [];
  return list.flatMap((field) => {
    const isRequired = isJsonObject(field) && field.required === true && typeof field.key === 'string';
    return isRequired ? [field.key as string] : [];
  });
}

const isGiven = (answer: Json | undefined): boolean => answer !== undefined && answer !== null && answer !== '';
