// S3, S4, S8: nothing gets out, nothing runs away, and no prototype is changed.

import { describe, expect, test } from 'vitest';
import { compileTemplate } from '../template/compile.ts';
import { renderTemplate, TemplateError } from '../template/render.ts';
import { evaluate } from './evaluate.ts';
import { EvaluationError } from './evaluation.ts';
import { BOMBS, ESCAPES, hostileScope } from './hostile.testing.ts';
import { parseExpression } from './parse.ts';

const scope = hostileScope();
const options = { roots: ['trigger'], dialect: 'javascript' } as const;

function prototypes(): string {
  return [Object, Array, Function, String, Number, Boolean]
    .flatMap((type) => Reflect.ownKeys(type.prototype).map(String))
    .join();
}

/** The code of the problem or error that stopped the expression. */
function stoppedBy(source: string, dialect: 'javascript' | 'pipeline'): string {
  const parsed = parseExpression(source, { ...options, dialect });
  if (!parsed.ok) {
    for (const problem of parsed.problems) {
      expect(problem.start).toBeLessThanOrEqual(source.length);
      expect(problem.line).toBeGreaterThan(0);
      expect(problem.column).toBeGreaterThan(0);
    }
    return parsed.problems.map((problem) => problem.code).join();
  }
  try {
    return `nothing: ${typeof evaluate(parsed.expr, scope)}`;
  } catch (error) {
    expect(error).toBeInstanceOf(EvaluationError);
    return (error as EvaluationError).code;
  }
}

describe('expressions that try to escape', () => {
  test.each(ESCAPES)('an expression cannot escape: %s', (source) => {
    const before = prototypes();
    expect(stoppedBy(source, 'javascript')).not.toContain('nothing');
    expect(prototypes()).toBe(before);
    expect('polluted' in {}).toBe(false);
  });
});

describe('expressions that try to use up time or memory', () => {
  test.each(BOMBS.map((source) => [source.slice(0, 80), source]))(
    'an expression that costs too much is stopped: %s',
    (_, source) => {
      expect(stoppedBy(source, 'javascript')).toMatch(/BUDGET_EXCEEDED|TOO_DEEP|TOO_LONG|EVALUATION_ERROR/);
    },
  );

  test('the message of an exceeded budget names the limit', () => {
    const parsed = parseExpression("'a'.repeat(1e9)", options);
    if (!parsed.ok) throw new Error('does not parse');
    expect(() => evaluate(parsed.expr, scope)).toThrow('more than 4194304 bytes built (maxBytes)');
    const steps = { maxSteps: 3, maxDepth: 100, maxBytes: 1000 };
    expect(() => evaluate(parsed.expr, scope, { ...steps, maxSteps: 2 })).toThrow('more than 2 steps (maxSteps)');
    expect(() => evaluate(parsed.expr, scope, { ...steps, maxDepth: 1 })).toThrow('more than a depth of 1 (maxDepth)');
  });

  test('a template stops at its limit too', () => {
    const compiled = compileTemplate({ bomb: "x {{ [1].map(x => 'a'.repeat(1e9)) }}" }, options);
    if (!compiled.ok) throw new Error('does not compile');
    expect(() => renderTemplate(compiled.template, scope)).toThrow(TemplateError);
  });
});

describe('hostile data', () => {
  test('keys that JavaScript would call are plain keys', () => {
    const value = (source: string) => {
      const parsed = parseExpression(source, options);
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
      return evaluate(parsed.expr, scope);
    };
    expect(value('JSON.stringify(trigger.tricky)')).toBe('{"toString":1,"valueOf":2,"toJSON":3}');
    expect(value('trigger.tricky.toString')).toBe(1);
    expect(value("'toString' in trigger.tricky")).toBe(true);
    expect(value("'toString' in trigger.fn")).toBe(false);
    expect(value("trigger.fn['toStr' + 'ing']")).toBeUndefined();
    expect(value("trigger['__proto' + '__'].polluted")).toBe(1);
    const copied = value("{ ['__proto' + '__']: 1, ...trigger.fn }") as object;
    expect(Object.getPrototypeOf(copied)).toBe(Object.prototype);
    expect(JSON.stringify(copied)).toBe('{"__proto__":1,"call":1}');
  });

  test('an object without a prototype is read like any other', () => {
    const parsed = parseExpression('String(trigger.bare) + trigger.bare.x', options);
    if (!parsed.ok) throw new Error('does not parse');
    const bare = Object.assign(Object.create(null), { x: 1 });
    expect(evaluate(parsed.expr, { trigger: { bare } })).toBe('[object Object]1');
  });
});
