import { describe, expect, test } from 'vitest';
import type { Json } from '../json/json.ts';
import { compileTemplate, type TemplateProblem, templateReferences } from './compile.ts';

const options = { roots: ['trigger', 'context', 'tasks'], dialect: 'javascript' } as const;

function problemsOf(value: Json): TemplateProblem[] {
  const compiled = compileTemplate(value, options);
  if (compiled.ok) throw new Error('compiled');
  return compiled.problems;
}

describe('compiling a template', () => {
  test('a value with nothing to render stays one literal', () => {
    const value = { a: [1, 'x', null, { b: 'no } braces }} here' }] };
    expect(compileTemplate(value, options)).toEqual({ ok: true, template: { kind: 'literal', value } });
  });

  test('the pieces of a template keep their source, trimmed', () => {
    expect(compileTemplate(['{{  trigger.a\n}}', 'a {{trigger.b}}'], options)).toMatchObject({
      template: {
        kind: 'array',
        items: [
          { kind: 'value', piece: { source: 'trigger.a' } },
          { kind: 'text', parts: ['a ', { source: 'trigger.b' }] },
        ],
      },
    });
  });

  test('every problem of every string is reported with its path, line and column', () => {
    const problems = problemsOf({ a: ['ok', 'x\n{{ tigger.a + contxt }} {{ }}'], b: { c: 'text {{ trigger.x' } });
    expect(problems.map(({ code, path, line, column, start, end }) => [code, path, line, column, start, end])).toEqual([
      ['UNKNOWN_NAME', ['a', 1], 2, 4, 5, 11],
      ['UNKNOWN_NAME', ['a', 1], 2, 15, 16, 22],
      ['EMPTY', ['a', 1], 2, 28, 29, 29],
      ['UNCLOSED', ['b', 'c'], 1, 6, 5, 17],
    ]);
    expect(problems[0]).toMatchObject({ message: 'There is no `tigger` here', hint: 'did you mean `trigger`?' });
  });

  test.each([
    ['{{ foo( }} x', 'SYNTAX'],
    ["{{ 'unclosed }}", 'UNCLOSED'],
    ["{{ 'unclosed\n }}", 'SYNTAX'],
    ['{{ { }}', 'UNCLOSED'],
    ['{{ /* }}', 'UNCLOSED'],
    ['{{ `abc }}', 'UNCLOSED'],
    [`{{ ${'a'.repeat(70_000)} }}`, 'TOO_LONG'],
    ['{{1}}'.repeat(1001), 'TOO_MANY'],
  ])('an invalid template is refused: %s', (source, code) => {
    expect(problemsOf(source).map((problem) => problem.code)).toEqual([code]);
  });

  test('the templates of one place are limited in number, and the limit is reported once', () => {
    const value = { all: Array.from({ length: 12_000 }, () => '{{ trigger.a }}') };
    expect(problemsOf(value)).toMatchObject([{ code: 'TOO_MANY', path: ['all', 10_000] }]);
  });

  test('the nesting of a template is limited', () => {
    let value: Json = '{{ trigger.a }}';
    for (let level = 0; level < 10_000; level++) value = [value];
    expect(problemsOf(value)).toMatchObject([
      { code: 'TOO_DEEP', message: 'Parameters can be nested 200 levels deep' },
    ]);
  });
});

test('the references of a template have their places', () => {
  const compiled = compileTemplate(
    { a: '{{ trigger.x }}', b: ['t', 'x {{ context.data.y ?? trigger.z }} {{ 1 }}'] },
    options,
  );
  if (!compiled.ok) throw new Error('does not compile');
  expect([...templateReferences(compiled.template)]).toEqual([
    { path: ['trigger', 'x'], guarded: false, start: 0, end: 9, source: 'trigger.x', templatePath: ['a'] },
    {
      path: ['context', 'data', 'y'],
      guarded: true,
      start: 0,
      end: 14,
      source: 'context.data.y ?? trigger.z',
      templatePath: ['b', 1],
    },
    {
      path: ['trigger', 'z'],
      guarded: false,
      start: 18,
      end: 27,
      source: 'context.data.y ?? trigger.z',
      templatePath: ['b', 1],
    },
  ]);
});
