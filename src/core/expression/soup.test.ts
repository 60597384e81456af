// Parses and evaluates arbitrary text. Parsing gives a tree or problems inside the text; evaluation gives a value or an
// EvaluationError. Nothing else may happen.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileTemplate } from '../template/compile.ts';
import { renderTemplate, TemplateError } from '../template/render.ts';
import { evaluate, evaluateCondition } from './evaluate.ts';
import { EvaluationError } from './evaluation.ts';
import { type Dialect, parseExpression } from './parse.ts';
import { references } from './references.ts';

const TOKENS = [
  'tasks',
  'wait',
  'trigger',
  'headers',
  'body',
  'x-y',
  '.',
  '?.',
  '[',
  ']',
  '(',
  ')',
  '{',
  '}',
  '{{',
  '}}',
  '`',
  '${',
  "'",
  '"',
  '/*',
  '*/',
  '//',
  '/',
  '\\',
  '\n',
  ' ',
  ',',
  ':',
  ';',
  '=>',
  '=',
  '==',
  '+',
  '-',
  '--',
  '!',
  '#',
  '@',
  '...',
  '??',
  '&&',
  '1',
  '0x',
  '1n',
  'map',
  'constructor',
  '__proto__',
  'new',
  'this',
  'function',
  'class',
  'async',
  'await',
  'yield',
  'import',
  'let',
  'in',
  'é',
  '\u2028',
  '\ud800',
  '\u0000',
  '😀',
];

const soup = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.array(fc.constantFrom(...TOKENS), { maxLength: 14 }).map((tokens) => tokens.join('')),
  fc.array(fc.constantFrom(...TOKENS), { maxLength: 14 }).map((tokens) => tokens.join(' ')),
);
const dialects = fc.constantFrom<Dialect>('javascript', 'pipeline');
const roots = ['trigger', 'tasks', 'wait'];
const scope = { trigger: { body: [1], headers: { 'x-y': 'v' } }, tasks: { 'x-y': { body: { map: 1 } } }, wait: null };

test('an expression of random text gives a value, problems or an EvaluationError', () => {
  fc.assert(
    fc.property(soup, dialects, (source, dialect) => {
      const parsed = parseExpression(source, { roots, dialect });
      if (!parsed.ok) {
        expect(parsed.problems.length).toBeGreaterThan(0);
        for (const { start, end } of parsed.problems) {
          expect(0 <= start && start <= end && end <= source.length, `${JSON.stringify(source)} ${start}-${end}`).toBe(
            true,
          );
        }
        return;
      }
      for (const { start, end, path } of references(parsed.expr)) {
        expect(source.slice(start, end).startsWith(String(path[0]))).toBe(true);
      }
      expect(typeof evaluateCondition(parsed.expr, scope).value).toBe('boolean');
      try {
        evaluate(parsed.expr, scope);
      } catch (error) {
        expect(error).toBeInstanceOf(EvaluationError);
      }
    }),
    { numRuns: 5000 },
  );
});

test('a template of random text gives a value, problems or a TemplateError', () => {
  fc.assert(
    fc.property(soup, dialects, (source, dialect) => {
      const compiled = compileTemplate({ a: [`{{ ${source} }}`, source] }, { roots, dialect });
      if (!compiled.ok) {
        expect(compiled.problems.length).toBeGreaterThan(0);
        return;
      }
      try {
        JSON.stringify(renderTemplate(compiled.template, scope));
      } catch (error) {
        expect(error).toBeInstanceOf(TemplateError);
      }
    }),
    { numRuns: 2000 },
  );
});
