import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../expression/evaluation.ts';
import type { Dialect } from '../expression/parse.ts';
import type { Json } from '../json/json.ts';
import { compileTemplate } from './compile.ts';
import { renderTemplate, TemplateError } from './render.ts';
import type { Template } from './template.ts';

const scope = {
  trigger: { n: 5, none: null, name: 'Ada', list: [1, { a: 2 }], flag: false, nested: { items: [] } },
  context: { data: { 'get-item': { items: [{ Name: 'Apollo' }] } } },
  tasks: {
    charge: { status_code: 200, body: { amount: 12.5 }, is_truncated: false },
    skipped: { status: 'skipped', status_code: null, body: null },
    big: { status_code: 200, body: '{"amount": 12', is_truncated: true },
    'plain-text': { body: 'hello' },
  },
};

function compile(value: Json, dialect: Dialect = 'javascript'): Template {
  const compiled = compileTemplate(value, { roots: ['trigger', 'context', 'tasks', 'wait'], dialect });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.template;
}

function failure(value: Json, dialect: Dialect = 'javascript', given: Record<string, unknown> = scope): TemplateError {
  try {
    renderTemplate(compile(value, dialect), given);
  } catch (error) {
    expect(error).toBeInstanceOf(TemplateError);
    return error as TemplateError;
  }
  throw new Error('rendered');
}

describe('values and text', () => {
  test.each<[string, Json]>([
    ['{{ trigger.n }}', 5],
    ['{{trigger.list}}', [1, { a: 2 }]],
    ['{{ trigger.none }}', null],
    ['{{ trigger.flag }}', false],
    [' {{ trigger.n }}', ' 5'],
    ['{{ trigger.n }}{{ trigger.n }}', '55'],
    ['[{{ trigger.none }}] {{ trigger.list }} {{ trigger.flag }}', '[] [1,{"a":2}] false'],
    ['{{ {a: {b: 1}} }}', { a: { b: 1 } }],
    ['{{ {a: {b: 1}}}}', { a: { b: 1 } }],
    ['{{ \'}}\' }} and {{ "{{" }}', '}} and {{'],
    ["{{ 'it\\'s }}' }}", "it's }}"],
    [`{{ \`\${ { a: '}}' }.a }}}\` }}`, '}}}}'],
    ['{{ /* }} */ trigger.n }}', 5],
    ['no braces } } here }}', 'no braces } } here }}'],
    ["{{ trigger.zap ?? 'unknown' }}", 'unknown'],
    ["{{ trigger.zap.deep.deeper ?? 'unknown' }}", 'unknown'],
    ["{{ trigger.none ?? 'unknown' }}", 'unknown'],
    ['{{ [trigger.name, ...trigger.list] }}', ['Ada', 1, { a: 2 }]],
    ['{{ trigger.n / 0 }}.', 'Infinity.'],
  ])('the template is rendered: %s', (source, expected) => {
    expect(renderTemplate(compile(source), scope)).toEqual(expected);
  });

  test('templates are rendered at any depth, and keys stay as they are', () => {
    const template = compile({
      '{{ trigger.n }}': ['{{ trigger.n }}', { deep: ['x{{ trigger.n }}', 1] }],
      same: { a: [true, 'text'] },
    });
    expect(renderTemplate(template, scope)).toEqual({
      '{{ trigger.n }}': [5, { deep: ['x5', 1] }],
      same: { a: [true, 'text'] },
    });
  });

  test('a `__proto__` key stays a key', () => {
    const rendered = renderTemplate(compile(JSON.parse('{"__proto__": {"polluted": "{{ trigger.n }}"}}')), scope);
    expect(JSON.stringify(rendered)).toBe('{"__proto__":{"polluted":5}}');
    expect(Object.getPrototypeOf(rendered)).toBe(Object.prototype);
  });

  test('a template stored as JSON renders the same value', () => {
    const piece = fc.constantFrom(
      '{{ trigger.n }}',
      '{{ trigger.list }}',
      "{{ trigger.x ?? 'd' }}",
      'text',
      '{{ trigger.name + 1 }}',
      '{{ [1].map(x => x + trigger.n) }}',
    );
    const value = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.array(piece, { maxLength: 3 }).map((pieces) => pieces.join('')),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.string(), tie('value'), { maxKeys: 3 }),
      ),
    })).value;
    fc.assert(
      fc.property(value, (parameters) => {
        const template = compile(parameters);
        const stored = JSON.parse(JSON.stringify(template)) as Template;
        expect(stored).toEqual(template);
        expect(renderTemplate(stored, scope)).toEqual(renderTemplate(template, scope));
      }),
      { numRuns: 300 },
    );
  });
});

describe('strict rendering', () => {
  test.each<[string, string]>([
    [
      "{{ context.data['get-item'].itms }}",
      "`context.data['get-item'].itms` is missing; did you mean `items`? (in {{ context.data['get-item'].itms }})",
    ],
    [
      "{{ context.data['get-itm'].items[0].Name }}",
      "`context.data['get-itm']` is missing; did you mean `get-item`? (in {{ context.data['get-itm'].items[0].Name }})",
    ],
    ['{{ trigger.none.x }}', '`trigger.none` is null, so it has no `x` (in {{ trigger.none.x }})'],
    ['Hello {{ trigger.zap }}', '`trigger.zap` is missing (in {{ trigger.zap }})'],
    ["{{ 'Hello ' + trigger.zap }}", "`trigger.zap` is missing (in {{ 'Hello ' + trigger.zap }})"],
    [`{{ \`Hello \${trigger.zap}\` }}`, `\`trigger.zap\` is missing (in {{ \`Hello \${trigger.zap}\` }})`],
    ['{{ encodeURIComponent(trigger.zap) }}', '`trigger.zap` is missing (in {{ encodeURIComponent(trigger.zap) }})'],
    ['{{ { a: [trigger.zap] } }}', '`trigger.zap` is missing (in {{ { a: [trigger.zap] } }})'],
    ['x {{ [trigger.zap] }}', '`trigger.zap` is missing (in {{ [trigger.zap] }})'],
    [
      '{{ trigger.list.find(x => x > 5) }}',
      'The value is undefined; give a default with `??` (in {{ trigger.list.find(x => x > 5) }})',
    ],
    ['{{ trigger.n / 0 }}', 'The value is Infinity, which JSON cannot hold (in {{ trigger.n / 0 }})'],
    ['{{ [trigger.name * 2] }}', 'The value is NaN, which JSON cannot hold (in {{ [trigger.name * 2] }})'],
    ['{{ trigger.name.toFixed() }}', '`toFixed` is not a method of a string (in {{ trigger.name.toFixed() }})'],
    [
      "{{ 'a'.repeat(1e9) }}",
      "The expression needs more than 4194304 bytes built (maxBytes) (in {{ 'a'.repeat(1e9) }})",
    ],
    ['{{ wait.x.url }}', '`wait` is missing (in {{ wait.x.url }})'],
  ])('a strict template fails: %s', (source, message) => {
    expect(failure(source).message).toBe(message);
  });

  test('a template error has its path and its source', () => {
    const error = failure({ a: [1, { b: 'x {{ trigger.n }} {{ trigger.zap }}' }] });
    expect(error).toMatchObject({ code: 'TEMPLATE_ERROR', path: ['a', 1, 'b'], source: 'trigger.zap' });
  });

  test('all pieces of a template share one budget', () => {
    const piece = "{{ 'a'.repeat(600) }}";
    const limits = { maxSteps: 100, maxDepth: 100, maxBytes: 2000 };
    expect(renderTemplate(compile([piece]), scope, limits)).toEqual(['a'.repeat(600)]);
    expect(() => renderTemplate(compile([piece, piece, piece, piece]), scope, limits)).toThrow('maxBytes');
  });
});

describe('the style of an installation', () => {
  const loose = { nullText: 'n/a', strict: false };
  const styled = (source: Json, format?: 'pipeline') =>
    renderTemplate(compile(source, format), { trigger: { none: null, one: 1 }, tasks: {} }, DEFAULT_LIMITS, {
      style: loose,
    });

  test('null in a text is written in the style of the installation', () => {
    expect(styled(['{{ trigger.none }}', 'got {{ trigger.none }}', 'got {{ trigger.one }}'])).toEqual([
      null,
      'got n/a',
      'got 1',
    ]);
  });

  test('only a missing value becomes null in a loose style: other errors are still thrown', () => {
    expect(() => styled('{{ "a".repeat(1e9) }}')).toThrow(TemplateError);
  });

  test('a missing value becomes null in a loose style at any depth', () => {
    expect(styled(['{{ trigger.two }}', 'got {{ trigger.two.three }}'])).toEqual([null, 'got n/a']);
    expect(() => styled('{{ 1 / 0 }}')).toThrow('Infinity');
  });

  test('a pipeline ignores a loose style: a missing value and a null inside a text are errors', () => {
    expect(() => styled('{{tasks.nowhere.body}}', 'pipeline')).toThrow('Failed to resolve');
    expect(styled(['{{trigger.none}}', "got {{trigger.none ?? 'none'}}"], 'pipeline')).toEqual([null, 'got none']);
    expect(() => styled('/orders/{{trigger.none}}', 'pipeline')).toThrow(
      'Failed to resolve {{trigger.none}}: it is null, and would leave a hole in the text; give a default with `??`',
    );
  });
});

describe('templates of a pipeline', () => {
  test.each<[string, Json]>([
    ['{{tasks.charge.body.amount}}', 12.5],
    ['{{tasks.plain-text.body}}!', 'hello!'],
    ['{{tasks.big.body}}', '{"amount": 12'],
    ['{{ tasks.big.body.amount ?? 0 }}', 0],
    ['{{tasks.skipped.status_code}}', null],
    ["/{{encodeURIComponent('a b/c?d#e&é')}}", '/a%20b%2Fc%3Fd%23e%26%C3%A9'],
  ])('the pipeline template is rendered: %s', (source, expected) => {
    expect(renderTemplate(compile(source, 'pipeline'), scope)).toEqual(expected);
  });

  test.each<[string, string]>([
    ['{{tasks.charge.body.order_id}}', 'Failed to resolve {{tasks.charge.body.order_id}}'],
    ['id {{ tasks.charge.body.order_id }}', 'Failed to resolve {{tasks.charge.body.order_id}}'],
    ['{{tasks.skipped.body.amount}}', 'Failed to resolve {{tasks.skipped.body.amount}}'],
    ['{{tasks.plain-text.body.field}}', 'Failed to resolve {{tasks.plain-text.body.field}}'],
    ['{{tasks.nowhere.body.field}}', 'Failed to resolve {{tasks.nowhere.body.field}}'],
    ['{{wait.payment-result.url}}', 'Failed to resolve {{wait.payment-result.url}}'],
    [
      '{{tasks.big.body.amount}}',
      "Cannot read 'body.amount' because the response from 'big' exceeded the 256KB limit and was truncated",
    ],
    [
      '{{tasks.big.body.order-lines.0.id}}',
      "Cannot read 'body.order-lines.0.id' because the response from 'big' exceeded the 256KB limit and was truncated",
    ],
    [
      "{{ 'x' + tasks.big.body.items[0].id }}",
      "Cannot read 'body.items.0.id' because the response from 'big' exceeded the 256KB limit and was truncated",
    ],
    [
      '{{tasks.big.body.0}}',
      "Cannot read 'body.0' because the response from 'big' exceeded the 256KB limit and was truncated",
    ],
    [
      'n {{tasks.big.body.length}}',
      "Cannot read 'body.length' because the response from 'big' exceeded the 256KB limit and was truncated",
    ],
    [
      '{{tasks.plain-text.body[0]}}',
      'Failed to resolve {{tasks.plain-text.body[0]}}: The value is undefined; give a default with `??`',
    ],
    ['{{ tasks.big.zap }}', 'Failed to resolve {{tasks.big.zap}}'],
    [
      '/{{encodeURIComponent(tasks.charge.body.nowhere)}}',
      'Failed to resolve {{encodeURIComponent(tasks.charge.body.nowhere)}}',
    ],
    [
      "{{encodeURIComponent('\\ud800')}}",
      "Failed to resolve {{encodeURIComponent('\\ud800')}}: The text ends or begins with half a character",
    ],
    [
      '{{ tasks.charge.status_code / 0 }}',
      'Failed to resolve {{tasks.charge.status_code / 0}}: The value is Infinity, which JSON cannot hold',
    ],
  ])('a pipeline template that cannot be resolved fails: %s', (source, message) => {
    expect(failure(source, 'pipeline').message).toBe(message);
  });

  test.each<[string, string]>([
    ['/{{ encodeURIComponent(tasks.skipped.body) }}', ': a part of it is null; give a default with `??`'],
    ['{{ String(tasks.charge.body.zap) }}', ''],
    ['{{ Math.max(1, tasks.charge.body.zap) }}', ''],
    ["{{ 'x' + tasks.skipped.body }}", ': a part of it is null; give a default with `??`'],
    ['{{ `x${tasks.skipped.body}` }}', ': a part of it is null; give a default with `??`'],
    ['n {{ tasks.charge.body.zap * 100 }}', ''],
    ['n {{ -tasks.charge.body.zap }}', ''],
    ["{{ tasks.plain-text.body.replace('h', tasks.charge.body.zap) }}", ''],
    ['n {{ tasks.plain-text.body * 2 }}', ': The value is NaN, which JSON cannot hold'],
  ])('a pipeline template that computes with a missing value fails: %s', (source, why) => {
    const [expression] = /(?<={{ ).*(?= }})/.exec(source)!;
    expect(failure(source, 'pipeline').message).toBe(`Failed to resolve {{${expression}}}${why}`);
  });

  test.each<[string, Json]>([
    ["{{ tasks.charge.body.zap == null ? 'none' : 'some' }}", 'none'],
    ['{{ !tasks.charge.body.zap }}', true],
    ['{{ Boolean(tasks.skipped.body) }}', false],
    ['{{ JSON.stringify(tasks.skipped.body) }}', 'null'],
    ['{{ (tasks.charge.body.zap ?? 2) * 3 }}', 6],
    ["{{ tasks.plain-text.body.includes('ell') }}", true],
    ["{{ tasks.plain-text.body.toUpperCase() + '!' }}", 'HELLO!'],
  ])('a pipeline template may test for a missing value: %s', (source, expected) => {
    expect(renderTemplate(compile(source, 'pipeline'), scope)).toEqual(expected);
  });

  test('a template of a pipeline without tasks fails to resolve', () => {
    expect(failure('{{tasks.big.body.amount}}', 'pipeline', {}).message).toBe(
      'Failed to resolve {{tasks.big.body.amount}}',
    );
  });
});
