import { describe, expect, test } from 'vitest';
import { evaluate } from './evaluate.ts';
import { type Dialect, type ExpressionProblem, parseExpression } from './parse.ts';

const roots = ['trigger', 'context', 'vars', 'tasks', 'wait'];

function problemsOf(source: string, dialect: Dialect = 'javascript'): ExpressionProblem[] {
  const parsed = parseExpression(source, { roots, dialect });
  if (parsed.ok) throw new Error(`parsed: ${source}`);
  return parsed.problems;
}

function summary(source: string, dialect: Dialect = 'javascript'): string {
  return problemsOf(source, dialect)
    .map(({ code, message, hint, line, column }) => `${line}:${column} ${code} ${message}${hint ? ` (${hint})` : ''}`)
    .join('\n');
}

describe('problems of an expression', () => {
  test.each([
    [
      "formatTime(0, 'HH:mm', 'Europe/Berlin')",
      '1:24 BAD_ZONE `formatTime` takes a fixed offset as its zone, not "Europe/Berlin" (write "Z" or an offset such as "+02:00": what the name of a zone means depends on the machine and its tables, so let an action convert the time)',
    ],
    [
      'formatTime(0, "HH", 2)',
      '1:21 BAD_ZONE `formatTime` takes a fixed offset as its zone, not 2 (write "Z" or an offset such as "+02:00": what the name of a zone means depends on the machine and its tables, so let an action convert the time)',
    ],
    ['', '1:1 EMPTY The expression is empty'],
    ['  \n ', '1:1 EMPTY The expression is empty'],
    [
      'while (true) {}',
      '1:1 SYNTAX `while` is a statement; conditions and templates are expressions (write what the value is, e.g. `a ? b : c`)',
    ],
    [
      'import x from "y"',
      '1:1 SYNTAX `import` is a statement; conditions and templates are expressions (write what the value is, e.g. `a ? b : c`)',
    ],
    ['import("x")', '1:1 UNSUPPORTED `import()` is not available (expressions only see their scope)'],
    ['trigger.a = 1', '1:1 UNSUPPORTED `=` would change data (did you mean `===`?)'],
    ['trigger.a += 1', '1:1 UNSUPPORTED `+=` would change data'],
    ['trigger.a === 1 = 2', '1:1 SYNTAX Assigning to rvalue (did you mean `===`?)'],
    ['trigger.a ===', '1:14 SYNTAX The expression is not complete'],
    ['trigger.a;', '1:10 SYNTAX The expression should end before `;` (leave out the `;`)'],
    ['trigger.a trigger.b', '1:11 SYNTAX The expression should end before `trigger`'],
    ['1 @ 2', "1:3 SYNTAX Unexpected character '@'"],
    ['(1 @ 2)', "1:4 SYNTAX Unexpected character '@'"],
    ['tigger.a', '1:1 UNKNOWN_NAME There is no `tigger` here (did you mean `trigger`?)'],
    [
      'context.data.get-item.name',
      "1:18 UNKNOWN_NAME There is no `item` here (a name with a hyphen is written `['get-item']`)",
    ],
    [
      'context.data.step-1.name',
      "1:21 SYNTAX Identifier directly after number (a name with a hyphen is written `['step-1']`)",
    ],
    [
      'context.data.get-2b-item.name',
      "1:19 SYNTAX Identifier directly after number (a name with a hyphen is written `['get-2b-item']`)",
    ],
    ['1 + 2b', '1:6 SYNTAX Identifier directly after number'],
    [
      'somethingElse',
      '1:1 UNKNOWN_NAME There is no `somethingElse` here (names that exist: trigger, context, vars, tasks, wait)',
    ],
    ['Math', '1:1 UNSUPPORTED `Math` cannot be used as a value'],
    ['parseInt', '1:1 UNSUPPORTED `parseInt` cannot be used as a value'],
    ['Math.PIE', '1:1 UNKNOWN_NAME There is no constant `Math.PIE` (did you mean `Math.PI`?)'],
    ['Math[trigger.x]', '1:1 UNKNOWN_NAME There is no constant `Math.undefined`'],
    ['Math.flor(1)', '1:1 UNKNOWN_FUNCTION There is no function `Math.flor` (did you mean `Math.floor`?)'],
    [
      'Math.random()',
      '1:1 UNKNOWN_FUNCTION There is no function `Math.random` (the same expression must always give the same value)',
    ],
    ['trigger()', '1:1 UNKNOWN_FUNCTION `trigger` is data, not a function'],
    ['[1].map(Number => Number(1))', '1:19 UNKNOWN_FUNCTION `Number` is data, not a function'],
    ['trigger.items.fliter(x => x)', '1:15 UNKNOWN_METHOD There is no method `fliter` (did you mean `filter`?)'],
    [
      'trigger.items.push(1)',
      '1:15 UNKNOWN_METHOD There is no method `push` (it would change data; use `concat` or `[...items, item]`)',
    ],
    ['trigger[trigger.x]()', '1:1 UNSUPPORTED The name of a method must be written out'],
    ['trigger[0]()', '1:1 UNSUPPORTED The name of a method must be written out'],
    [
      'trigger.x()()',
      '1:9 UNKNOWN_METHOD There is no method `x`\n1:1 UNSUPPORTED Only functions and methods can be called, by their names',
    ],
    [
      'trigger.x(a => tigger, 1)',
      '1:16 UNKNOWN_NAME There is no `tigger` here (did you mean `trigger`?)\n1:9 UNKNOWN_METHOD There is no method `x`',
    ],
    [
      '(trigger)(tigger)',
      '1:11 UNKNOWN_NAME There is no `tigger` here (did you mean `trigger`?)\n1:1 UNSUPPORTED Only functions and methods can be called, by their names',
    ],
    ['trigger.slice?.()', '1:1 UNSUPPORTED `?.(` is not available (write `?.` before the name of the method)'],
    ['trigger.items.map()', '1:1 BAD_CALLBACK `map` needs an arrow function (e.g. `map(item => item.name)`)'],
    ['trigger.items.map(1)', '1:19 BAD_CALLBACK `map` needs an arrow function (e.g. `map(item => item.name)`)'],
    ['trigger.items.sort(1)', '1:20 BAD_CALLBACK `sort` needs an arrow function (e.g. `sort(item => item.name)`)'],
    [
      '[1].map(x => { return x })',
      '1:14 BAD_CALLBACK The body of an arrow function must be an expression (leave out the braces and `return`; for an object write `({ … })`)',
    ],
    [
      '[1].map(([a]) => 1)',
      '1:10 BAD_CALLBACK A parameter must be a plain name (e.g. `entry => entry[0]` instead of `([key]) => key`)',
    ],
    ['[1].map(async x => x)', '1:9 BAD_CALLBACK An arrow function cannot be `async` here'],
    ['[1].map((a, b, c, d, e) => a)', '1:9 BAD_CALLBACK An arrow function has at most four parameters'],
    ['trigger.constructor', '1:9 FORBIDDEN_MEMBER `constructor` cannot be read'],
    ["trigger['__proto__']", '1:9 FORBIDDEN_MEMBER `__proto__` cannot be read'],
    ['trigger.constructor()', '1:9 FORBIDDEN_MEMBER `constructor` cannot be used'],
    ['{ __proto__: 1 }', '1:3 FORBIDDEN_MEMBER `__proto__` cannot be a key'],
    ['{ get a() { return 1 } }', '1:3 UNSUPPORTED An object cannot have methods, getters or setters'],
    ['{ a() {} }', '1:3 UNSUPPORTED An object cannot have methods, getters or setters'],
    ['[, 1]', '1:1 UNSUPPORTED An array cannot have holes (write `null`)'],
    [
      '/a/',
      '1:1 UNSUPPORTED Regular expressions are not available (use `includes`, `startsWith`, `endsWith` or `split`)',
    ],
    ['10n', '1:1 UNSUPPORTED BigInt is not available (leave out the `n`)'],
    ['1e999', '1:1 UNSUPPORTED The number is too large'],
    ['1 & 2', '1:1 UNSUPPORTED `&` is not available (did you mean `&&`?)'],
    ['1 << 2', '1:1 UNSUPPORTED `<<` is not available'],
    ['~1', '1:1 UNSUPPORTED `~` is not available (did you mean `!`?)'],
    ['new Date()', '1:1 UNSUPPORTED `new` is not available (expressions work on JSON values only)'],
    [
      'let x',
      '1:1 SYNTAX `let` is a statement; conditions and templates are expressions (write what the value is, e.g. `a ? b : c`)',
    ],
  ])('the problem of an expression has its place and its reason: %s', (source, expected) => {
    expect(summary(source)).toBe(expected);
  });

  test('all problems of an expression are found, with their lines and columns', () => {
    expect(summary('tigger.a &&\n  contxt.b.mapp() ||\n  this')).toBe(
      [
        '1:1 UNKNOWN_NAME There is no `tigger` here (did you mean `trigger`?)',
        '2:3 UNKNOWN_NAME There is no `contxt` here (did you mean `context`?)',
        '2:12 UNKNOWN_METHOD There is no method `mapp` (did you mean `map`?)',
        '3:3 UNSUPPORTED `this` is not available (start from a name of the scope)',
      ].join('\n'),
    );
  });

  test('an expression is limited in size and nesting', () => {
    expect(summary(`'${'a'.repeat(10_000)}'`)).toBe(
      '1:1 TOO_LONG An expression can have at most 10000 characters; this one has 10002',
    );
    for (const [open, close] of [
      ['[', ']'],
      ['(', ')'],
      ['!', ''],
      ['[1].map(a => ', ')'],
      ['{a:', '}'],
    ] as const) {
      expect(summary(`${open.repeat(200)}1${close.repeat(200)}`)).toMatch(
        /^\d+:\d+ TOO_DEEP The expression is nested deeper than 100 levels$/,
      );
    }
    expect(summary(`${'('.repeat(4900)}1${')'.repeat(4900)}`)).toBe(
      '1:1 TOO_DEEP The expression is nested deeper than 100 levels',
    );
    // Fewer than a hundred levels as written, more in the tree.
    expect(summary(`${'[1].map(a => '.repeat(50)}[1]${')'.repeat(50)}`)).toContain('TOO_DEEP');
  });

  test('a long chain of operators does not count as deep', () => {
    for (const operator of [' + ', ' && ', ' || ']) {
      expect(parseExpression(Array(500).fill('trigger.a').join(operator), { roots, dialect: 'javascript' }).ok).toBe(
        true,
      );
    }
  });
});

describe('the pipeline dialect', () => {
  const scope = {
    trigger: {
      headers: { 'x-id': 'h1', plain: 'h2' },
      a: 9,
      'order-id': 'o1',
      'line-1': 'Main Street',
      tasks: { a: 5 },
      Headers: { A: 1 },
    },
    tasks: {
      list: {
        body: {
          items: [{ 'sku-code': 'k', 5: 'five' }],
          '2fa': true,
          a: 3,
          'a-b-c': 4,
          'line-2b': { 'x-1': 6 },
          headers: { 'X-Y': 1 },
        },
      },
      0: { status: 'zero' },
      'payment-result': { body: { id: 7, total: 3 }, headers: { 'content-type': 'text/html' }, '2nd': 1 },
      '1st': { status_code: 200 },
      plain: { status_code: 201 },
    },
    wait: { 'payment-result': { url: 'https://x/wh/1' } },
  };

  test.each<[string, unknown]>([
    ['tasks.payment-result.body.id', 7],
    ['tasks . payment-result . body.id', 7],
    ['tasks?.payment-result?.body.id', 7],
    ['tasks.1st.status_code == 200', true],
    ['tasks.plain.status_code', 201],
    ['wait.payment-result.url', 'https://x/wh/1'],
    ['tasks.payment-result.headers.content-type', 'text/html'],
    ["tasks['payment-result'].headers.content-type", 'text/html'],
    ['tasks["payment-result"]?.headers?.content-type', 'text/html'],
    ['trigger.headers.x-id', 'h1'],
    ['trigger.headers.plain', 'h2'],
    ['trigger.headers', scope.trigger.headers],
    ['trigger.headers.X-Id', 'h1'],
    ['trigger.headers.Plain == "h2"', true],
    ['trigger.Headers.A', 1],
    ['tasks.payment-result.headers.Content-Type', 'text/html'],
    ['trigger.order-id', 'o1'],
    ['trigger?.order-id == "o1"', true],
    ['tasks.list.body.items.0.sku-code', 'k'],
    ['tasks.list.body.items[0].sku-code + 1', 'k1'],
    ["tasks['list'].body['items'].0.5", 'five'],
    ['tasks.list.body.items.1.sku-code', undefined],
    ['tasks.list.body.2fa', true],
    ['tasks.list.body.a-b-c', 4],
    ['tasks.list.body.a-Math.abs(-1)', 2],
    ['tasks.list.body.a?.5:1', 0.5],
    ['[1].map(b => tasks.list.body.a-b)', [2]],
    ['tasks.list.body.headers.X-Y', 1],
    ['tasks.0.status', 'zero'],
    ['tasks.$x', undefined],
    ['trigger.a - 1', 8],
    ['trigger.a -1', 8],
    ['trigger.tasks.a - 1', 4],
    ['(trigger.a)-1', 8],
    ['trigger.line-1', 'Main Street'],
    ['trigger.line-1 == "Main Street" && [1].every(x => trigger.line-1.length == 11)', true],
    ['tasks.list.body.line-2b.x-1', 6],
    ['tasks.payment-result.body.id-tasks.payment-result.body.total', 4],
    ['[...tasks.payment-result.body.id ? "ab" : ""].length', 2],
    [
      `'tasks.payment-result' + \`tasks.payment-result \${tasks.payment-result.body.id} \\\` tasks.a-b\``,
      'tasks.payment-resulttasks.payment-result 7 ` tasks.a-b',
    ],
    ['{ a: { b: tasks.payment-result.body.id } }.a.b /* tasks.a-b */', 7],
    ['tasks.unknown.body.id', undefined],
    ['tasks.unknown.body.name.slice(1)[0]', undefined],
    ['[{ a: 1 }, {}].map(x => x.b.c)', [undefined, undefined]],
  ])('the expression is read in the pipeline dialect: %s', (source, expected) => {
    const parsed = parseExpression(source, { roots, dialect: 'pipeline' });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    expect(evaluate(parsed.expr, scope)).toEqual(expected);
  });

  test('problems in the pipeline dialect point at the source as written', () => {
    expect(summary('tasks.payment-result.body.id == tigger.x', 'pipeline')).toBe(
      '1:33 UNKNOWN_NAME There is no `tigger` here (did you mean `trigger`?)',
    );
    expect(summary('tasks.a.body.0.x-y @', 'pipeline')).toBe("1:20 SYNTAX Unexpected character '@'");
    expect(summary('tasks.a.body.-x', 'pipeline')).toContain('1:14 SYNTAX');
    expect(summary('tasks.a-b @', 'pipeline')).toBe("1:11 SYNTAX Unexpected character '@'");
    expect(summary('tasks.a-b.c()', 'pipeline')).toContain('1:11 UNKNOWN_METHOD');
    expect(summary('tasks.a-b.c tasks.c-d', 'pipeline')).toBe('1:13 SYNTAX The expression should end before `tasks`');
    expect(summary("tasks.a-b == 'unclosed", 'pipeline')).toBe('1:14 SYNTAX Unterminated string constant');
    expect(summary("tasks.a-b == 'unclosed\\'\n", 'pipeline')).toContain('1:14 SYNTAX');
    expect(summary('tasks.a-b /* unclosed', 'pipeline')).toBe('1:11 SYNTAX Unterminated comment');
  });
});
