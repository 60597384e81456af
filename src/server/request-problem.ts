// Says what is wrong with a request, all of it: zod's issues as problems with JSON pointers.

import type { z } from 'zod';
import { issueMessage } from '../core/definition/issue-message.ts';
import { pointerOf } from '../core/definition/pointer.ts';
import type { Problem } from '../core/definition/problem.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import { nearMiss } from '../core/expression/near-miss.ts';
import { didYouMean } from '../core/expression/problem.ts';

export type RequestPart = 'params' | 'query' | 'body';

export function requestInvalid(problems: readonly Problem[]): PawlError {
  const [first, ...more] = problems;
  const where = first === undefined || first.path === '' ? '' : `${first.path} `;
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
  return new PawlError('REQUEST_INVALID', `${where}${first?.message ?? 'the request is not valid'}${others}`, problems);
}

/** Problems of a query stand below `/query`, those of a body at their own place. */
export function problemsOf(part: RequestPart, error: z.ZodError, schema: z.ZodType): Problem[] {
  const base = part === 'body' ? '' : `/${part}`;
  return error.issues.flatMap((issue) => {
    const path = pointerOf(issue.path.map(pointerKey), base);
    if (issue.code !== 'unrecognized_keys')
      return [{ code: issue.code.toUpperCase(), path, message: issueMessage(issue) }];
    const known = issue.path.length === 0 ? fieldsOf(schema) : [];
    return issue.keys.map((key) => unknownKey(key, path, known));
  });
}

function unknownKey(key: string, parent: string, known: readonly string[]): Problem {
  const problem = { code: 'UNKNOWN_KEY', path: pointerOf([key], parent), message: `\`${key}\` is not a field here` };
  const near = didYouMean(nearMiss(key, known));
  const suggestion = near ?? (known.length === 0 ? undefined : `allowed here: ${known.join(', ')}`);
  return suggestion === undefined ? problem : { ...problem, suggestion };
}

function fieldsOf(schema: z.ZodType): string[] {
  return Object.keys((schema as { shape?: Record<string, unknown> }).shape ?? {});
}

const pointerKey = (key: PropertyKey): string | number => (typeof key === 'symbol' ? String(key) : key);
