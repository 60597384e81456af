// Checks schemas written by users, and values against them, without blocking the event loop (S4). Plain and small schemas run
// here, all others in a process that is stopped when it takes too long.

import type { DocumentRenderer, Turn } from '../action/document-renderer.ts';
import { isAffordable, plainSchema } from '../action/plain-schema.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import type { Problem } from '../core/problem/problem.ts';

/** All problems of a value, which is given with its text. */
export type ValueCheck = (value: Json, text: string, turn: Turn) => Problem[] | Promise<Problem[]>;

const TOO_SLOW: Problem = {
  code: 'TOO_SLOW',
  path: '',
  message: 'cannot be checked: it takes too long',
  suggestion: 'a `pattern` with nested repetitions does that; write it without them',
};

export class SchemaCheck {
  private readonly renderer: Pick<DocumentRenderer, 'checkSchema' | 'checkValue'>;

  constructor(renderer: Pick<DocumentRenderer, 'checkSchema' | 'checkValue'>) {
    this.renderer = renderer;
  }

  async schemaProblems(schema: JsonObject, turn: Turn): Promise<Problem[]> {
    if (plainSchema(schema) !== null) return [];
    return this.renderer.checkSchema(schema, turn).catch(tooSlow);
  }

  /** For a schema that is known to be valid; otherwise every value has problems. */
  valueCheck(schema: JsonObject): ValueCheck {
    const plain = plainSchema(schema);
    return (value, text, turn) => {
      if (plain !== null && isAffordable(plain, text.length)) return plain.check(value);
      return this.renderer.checkValue(schema, value, turn).catch(tooSlow);
    };
  }
}

/** Out of time or memory. */
function tooSlow(error: unknown): Problem[] {
  const isLimit = error instanceof PawlError && (error.code === 'TEMPLATE_TIMEOUT' || error.code === 'TEMPLATE_ERROR');
  if (isLimit) return [TOO_SLOW];
  throw error;
}
