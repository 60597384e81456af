// Reports all problems of a request: zod's issues with JSON pointers.

import { z } from 'zod';
import { issueMessage } from '../core/definition/issue-message.ts';
import { unwrapped } from '../core/definition/schema-pieces.ts';
import { didYouMean } from '../core/expression/problem.ts';
import { nearMiss } from '../core/problem/near-miss.ts';
import { pointerOf } from '../core/problem/pointer.ts';
import type { Problem } from '../core/problem/problem.ts';
import type { ProblemList } from '../core/problem/problem-list.ts';

export type RequestPart = 'params' | 'query' | 'body';

/** Problems of a query are below `/query`, those of a body at their own place. */
export function reportIssues(part: RequestPart, error: z.ZodError, schema: z.ZodType, problems: ProblemList): void {
  const base = part === 'body' ? '' : `/${part}`;
  for (const issue of error.issues) {
    const pathOf = () => pointerOf(issue.path.map(pointerKey), base);
    if (issue.code !== 'unrecognized_keys') {
      problems.add(() => ({ code: issue.code.toUpperCase(), path: pathOf(), message: issueMessage(issue) }));
      continue;
    }
    const known = fieldsAt(schema, issue.path);
    for (const key of issue.keys) problems.add(() => unknownKey(key, pathOf(), known));
  }
}

/** For a union without a discriminator: the common fields, for problems that do not depend on the kind. */
export function commonFields(schema: z.ZodType, { issues: [issue] }: z.ZodError): z.ZodType | undefined {
  if (!(schema instanceof z.ZodDiscriminatedUnion) || issue?.code !== 'invalid_union') return undefined;
  const shapes = (schema.options as z.ZodObject[]).map(({ shape }) => shape);
  const isCommon = ([name, field]: [string, unknown]) => shapes.every((shape) => shape[name] === field);
  const fields = shapes.flatMap((shape) => Object.entries(shape));
  return z.strictObject(
    Object.fromEntries(fields.map((field) => [field[0], isCommon(field) ? field[1] : z.unknown().optional()])),
  );
}

function unknownKey(key: string, parent: string, known: readonly string[]): Problem {
  const problem = { code: 'UNKNOWN_KEY', path: pointerOf([key], parent), message: `\`${key}\` is not a field here` };
  const near = didYouMean(nearMiss(key, known));
  const suggestion = near ?? (known.length === 0 ? undefined : `allowed here: ${known.join(', ')}`);
  return suggestion === undefined ? problem : { ...problem, suggestion };
}

function fieldsAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: unknown = schema;
  for (const key of path) at = shapeOf(at)[key];
  return Object.keys(shapeOf(at));
}

function shapeOf(schema: unknown): Record<PropertyKey, unknown> {
  return (unwrapped(schema) as { shape?: Record<PropertyKey, unknown> } | undefined)?.shape ?? {};
}

const pointerKey = (key: PropertyKey): string | number => (typeof key === 'symbol' ? String(key) : key);
