import { describe, expect, test } from 'vitest';
import type { Expr } from './ast.ts';
import { evaluate, evaluateCondition } from './evaluate.ts';
import { EvaluationError, type Limits } from './evaluation.ts';
import { type Dialect, parseExpression } from './parse.ts';

const roots = ['trigger', 'context', 'tasks', 'wait', 'inputs', 'on'];

function parse(source: string, dialect: Dialect = 'javascript'): Expr {
  const parsed = parseExpression(source, { roots, dialect });
  if (!parsed.ok) throw new Error(`${source}: ${JSON.stringify(parsed.problems)}`);
  return parsed.expr;
}

const scope = {
  trigger: {
    name: 'Ada',
    count: 3,
    flag: true,
    none: null,
    items: [
      { id: 2, tag: 'b' },
      { id: 1, tag: 'a' },
    ],
    text: 'a-b-c',
  },
  context: { data: { 'get-item': { items: [{ Status: 'Approved' }] } } },
};

describe('values of expressions', () => {
  test.each<[string, unknown]>([
    ["context.data['get-item'].items[0].Status === 'Approved'", true],
    ['trigger.items.filter(item => item.id > 1).map(item => item.tag)', ['b']],
    ['trigger.items.filter(Boolean).map(String)', ['[object Object]', '[object Object]']],
    ["['1', 'x'].map(Number)", [1, Number.NaN]],
    ['trigger.items.sort((a, b) => a.id - b.id).map(item => item.id)', [1, 2]],
    [
      'trigger.items.map(item => trigger.items.map(item => item.id).concat(item.id))',
      [
        [2, 1, 2],
        [2, 1, 1],
      ],
    ],
    [
      '[1, 2].map(x => [10, 20].map(y => [x].map(x => x + y)))',
      [
        [[11], [21]],
        [[12], [22]],
      ],
    ],
    ['[3, 1, undefined, 2].sort()', [1, 2, 3, undefined]],
    ['[10, 9, 1].sort()', [1, 10, 9]],
    ['[2, 1].toSorted().reverse()', [2, 1]],
    ['[trigger.items].sort().length', 1],
    ['[1, 2, 3].reduce((sum, x, i, all) => sum + x * i + all.length, 0)', 17],
    ['[1, 2, 3].reduceRight((text, x) => text + x)', 5 + 1],
    [
      "{ a: 1, 'b-c': trigger.count, [trigger.name]: [...'hé', ...[1]], ...trigger.items[0], ...null }",
      { a: 1, 'b-c': 3, Ada: ['h', 'é', 1], id: 2, tag: 'b' },
    ],
    ['{ trigger }.trigger.count', 3],
    ['{ 1: 2 }[1]', 2],
    ['Math.max(...[1, 5, 3])', 5],
    ['Math.PI', Math.PI],
    ['Number.MAX_SAFE_INTEGER', Number.MAX_SAFE_INTEGER],
    ['String()', ''],
    ['Number()', 0],
    ['isNaN(undefined) && isFinite("5")', true],
    ['typeof undefined + typeof null + typeof NaN', 'undefinedobjectnumber'],
    ['trigger.text.split("-")', ['a', 'b', 'c']],
    ['trigger.text.length + trigger.items.length', 7],
    ["trigger.text[1] + trigger.text['2'] + trigger.text.zap", '-bundefined'],
    ['trigger.count.zap', undefined],
    ['trigger[true]', undefined],
    ['[trigger.flag ? 1 : 2, trigger.none ? 1 : 2]', [1, 2]],
    ['trigger.missing?.deep.deeper', undefined],
    ['trigger.missing?.[trigger.none.x]', undefined],
    ['trigger.missing?.slice(trigger.none.x).length', undefined],
    ['(trigger.missing?.deep) === undefined', true],
    ["trigger.missing.deep.slice(1)[0] ?? 'default'", 'default'],
    ["trigger['missing'][0] ?? trigger.count", 3],
    ["(trigger.none ?? trigger.missing.x) ?? 'default'", 'default'],
    ["'name' in trigger && !('length' in trigger) && 0 in trigger.items", true],
    ['trigger.none == undefined && trigger.none != 0', true],
    ["'5' == 5 && [5] == 5 && true == '1' && null != 0 && [1] != [1]", true],
    ['trigger.items == null', false],
    [
      '[trigger.items.join(), [1, [2, null]].toString(), (255).toString(16)]',
      ['[object Object],[object Object]', '1,2,', 'ff'],
    ],
    ["JSON.stringify({ a: [1, undefined] }, null, ' ')", '{\n "a": [\n  1,\n  null\n ]\n}'],
    ['JSON.stringify(undefined)', undefined],
    ['JSON.stringify("x", 1, [])', '"x"'],
    ["'a'.repeat(0) + 'x'.padStart(3, '-') + 'ab'.replaceAll('b', '$&$&')", '--xabb'],
    ['trigger /* the trigger */ .count', 3],
    ['-trigger.count + +"2" - -1', 0],
  ])('the expression gives the value of JavaScript: %s', (source, expected) => {
    expect(evaluate(parse(source), scope)).toEqual(expected);
  });

  test('a name of the scope without a value is undefined', () => {
    expect(evaluate(parse('inputs'), scope)).toBeUndefined();
  });

  test('evaluation never changes its data', () => {
    const frozen = JSON.stringify(scope);
    evaluate(parse('[trigger.items.sort((a, b) => a.id - b.id), trigger.items.reverse()]'), scope);
    expect(JSON.stringify(scope)).toBe(frozen);
  });
});

describe('errors of expressions', () => {
  test.each([
    ['trigger.none.x', 'Cannot read `x` of null'],
    ['trigger.missing[0]', 'Cannot read `0` of undefined'],
    ['trigger.missing[trigger.count]', 'Cannot read `[…]` of undefined'],
    ['trigger.missing.slice(1)', 'Cannot read `slice` of undefined'],
    ['(trigger.missing?.deep).deeper', 'Cannot read `deeper` of undefined'],
    ['trigger.name.map(x => x)', '`map` is not a method of a string'],
    ['trigger.count.sort()', '`sort` is not a method of a number'],
    ['trigger.items.trim()', '`trim` is not a method of an array'],
    ['trigger.toFixed(1)', '`toFixed` is not a method of an object'],
    ["'a'.repeat(-1)", 'Invalid count value: -1'],
    ['[...trigger]', 'Only arrays and texts can be spread here'],
    ["'x' in 'xyz'", 'The right side of `in` must be an object or an array'],
    ['Object.keys(null)', 'Cannot list the keys of null'],
    ['[].reduce((a, b) => a)', 'reduce of an empty array needs an initial value'],
    ["JSON.stringify(1, ['a'])", 'JSON.stringify takes no replacer; pass null'],
  ])('the expression throws: %s', (source, message) => {
    expect(() => evaluate(parse(source), scope)).toThrow(new EvaluationError(message));
  });
});

describe('conditions', () => {
  test('a condition is true or false by the rules of JavaScript', () => {
    expect(evaluateCondition(parse('trigger.items'), scope)).toEqual({ value: true });
    expect(evaluateCondition(parse("''"), scope)).toEqual({ value: false });
  });

  test('a condition that throws is false, and its warning says what is missing', () => {
    expect(evaluateCondition(parse("context.data['get-itm'].items[0]"), scope)).toEqual({
      value: false,
      warning: "Cannot read `items` of undefined: `context.data['get-itm']` is missing; did you mean `get-item`?",
    });
    expect(evaluateCondition(parse('trigger.none.x'), scope).warning).toBe(
      'Cannot read `x` of null: `trigger.none` is null, so it has no `x`',
    );
    expect(evaluateCondition(parse('trigger.items[7].x'), scope).warning).toBe(
      'Cannot read `x` of undefined: `trigger.items[7]` is missing',
    );
    expect(evaluateCondition(parse('trigger.name.first.x'), scope).warning).toBe(
      'Cannot read `x` of undefined: `trigger.name.first` is missing',
    );
    expect(evaluateCondition(parse('[].find(x => x).y + (trigger.zap ?? 1)'), scope).warning).toBe(
      'Cannot read `y` of undefined',
    );
    expect(evaluateCondition(parse('trigger.name.toFixed()'), scope).warning).toBe(
      '`toFixed` is not a method of a string',
    );
  });

  test('a condition over its budget is false, and its warning names the limit', () => {
    const limits: Limits = { maxSteps: 20, maxDepth: 100, maxBytes: 1_000_000 };
    expect(evaluateCondition(parse('[1, 2, 3, 4, 5, 6].map(x => x + 1)'), scope, limits)).toEqual({
      value: false,
      warning: 'The expression needs more than 20 steps (maxSteps)',
    });
  });

  test('a filter over a thousand rows is well within the default budget', () => {
    const rows = Array.from({ length: 1000 }, (_, id) => ({
      id,
      status: id % 2 ? 'open' : 'done',
      title: `row ${id}`,
    }));
    const condition = parse(
      "trigger.rows.filter(row => row.status === 'open' && row.title.includes('9')).map(row => ({ ...row })).length > 10",
    );
    expect(evaluateCondition(condition, { trigger: { rows } })).toEqual({ value: true });
  });
});

describe('pipeline conditions', () => {
  const tasks = {
    charge: { status: 'success', status_code: 200, body: { approved: true, amount: 5 } },
    skipped: { status: 'skipped', status_code: null, body: null },
    page: { status: 'success', status_code: 200, body: '<html>' },
  };

  test.each<[string, boolean]>([
    ['tasks.charge.status_code == 200', true],
    ['tasks.page.body.length > 3', false],
    ["tasks.page['body']['0'] == null", true],
    ["tasks['page'].body[trigger.index] == null", true],
    ["tasks.page.body.includes('html')", true],
    ['tasks.page.status.length === 7', true],
    ['tasks[trigger.name].body.length > 3', false],
    ['[tasks.page][0].body.length > 3', true],
    ["({ body: 'text' }).body.length > 3", true],
    ['wait.page.body.length > 3', false],
    ['trigger.body.length > 3', false],
    ['tasks.skipped.status_code == 200', false],
    ['tasks.skipped.status_code != 200', true],
    ["tasks.skipped.status == 'skipped'", true],
    ['tasks.skipped.status_code < 400', false],
    ['tasks.skipped.status_code >= 400', false],
    ['tasks.skipped.status_code <= 0', false],
    ['0 >= tasks.charge.body.missing', false],
    ['tasks.charge.body.amount < 6', true],
    ['!(tasks.skipped.status_code < 400)', true],
    ['tasks.skipped.body.amount == null', true],
    ['tasks.charge.body.missing == null', true],
    ['tasks.charge.body.missing === null', true],
    ['tasks.nowhere.body.a.b === null', true],
    ['tasks.nowhere.body.list.filter(x => x.y.z).length > 0', false],
    ['tasks.charge.body.items[tasks.charge.status_code].x === null', true],
    ['wait === null', true],
    ["tasks.charge.status_code >= 200 && tasks.charge.body.approved || tasks.x.status == 'failed'", true],
    ['(tasks.charge.body.discount ?? 0) === 0', true],
  ])('the pipeline condition has its value: %s', (source, value) => {
    const trigger = { index: 0, name: 'page', body: 'a=1&b=2' };
    expect(evaluateCondition(parse(source, 'pipeline'), { trigger, tasks })).toEqual({ value });
  });
});
