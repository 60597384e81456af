// Random expressions and random data, for comparing our language with JavaScript. Each expression is printed twice: in our
// language and in plain JavaScript. The two differ in two places. The left side of `??` is null-safe here, so JavaScript gets a
// `?.`. `sort` and `reverse` do not change data here, so JavaScript gets `toSorted` and `toReversed`.

import fc from 'fast-check';
import { ARRAY_METHODS, CALLBACK_METHODS, SORT_METHODS } from './array-methods.ts';
import { DATA_FUNCTIONS } from './data-functions.ts';
import { FUNCTIONS, NUMBER_METHODS } from './functions.ts';
import { STRING_METHODS } from './string-methods.ts';

/** Functions that JavaScript does not have, or that use its own clock and zone. */
const OURS: ReadonlySet<string> = new Set(DATA_FUNCTIONS.map(([name]) => name));

interface Print {
  readonly forJavaScript: boolean;
  readonly nullSafe: boolean;
}
export type Printer = (print: Print) => string;

const KEYS = ['x', 'y', 'list', 'name', 'k-1', '1', 'é'] as const;

const text =
  (source: string): Printer =>
  () =>
    source;
const quoted = (value: string): Printer => text(`'${value}'`);

const literal = fc.oneof(
  fc
    .constantFrom(
      '0',
      '1',
      '2',
      '3',
      '7.25',
      '10',
      '1e21',
      '(-1)',
      'true',
      'false',
      'null',
      'undefined',
      'NaN',
      'Infinity',
    )
    .map(text),
  fc
    .constantFrom('', 'a', 'b', 'ab', 'banana', '10', ' 2 ', '0x1f', 'ß', '😀!', 'x', 'name', 'length', '0', '$&-', ',')
    .map(quoted),
);

const OPERATORS = [
  '-',
  '*',
  '/',
  '%',
  '**',
  '+',
  '==',
  '!=',
  '===',
  '!==',
  '<',
  '<=',
  '>',
  '>=',
  'in',
  '&&',
  '||',
] as const;

const STRINGS = [...STRING_METHODS.keys()];
const ARRAYS = [...ARRAY_METHODS.keys(), ...SORT_METHODS];
const NUMBERS = [...NUMBER_METHODS.keys()];
const CALLBACKS = [...CALLBACK_METHODS.keys()].filter((name) => !name.startsWith('reduce'));
const KNOWN_FUNCTIONS = [...FUNCTIONS.keys()]
  .filter((name) => !OURS.has(name))
  .filter((name) => name !== 'JSON.stringify');

/** Without `toString`, which JavaScript also has for objects and booleans. */
const PLAIN_METHODS = [...STRINGS, ...ARRAYS, ...NUMBERS].filter((name) => name !== 'toString');

const IN_JAVASCRIPT = new Map([
  ['sort', 'toSorted'],
  ['reverse', 'toReversed'],
]);

const cache = new Map<string, fc.Arbitrary<Printer>>();

export function expression(depth: number, locals: readonly string[] = []): fc.Arbitrary<Printer> {
  const id = `${depth} ${locals.join()}`;
  // Building each kind once keeps the number of generators small.
  const known = cache.get(id);
  if (known) return known;
  const made = depth === 0 ? atom(locals) : composite(depth, locals);
  cache.set(id, made);
  return made;
}

function atom(locals: readonly string[]): fc.Arbitrary<Printer> {
  const names = fc.constantFrom('a', 'b', 'c', ...locals, ...locals).map(text);
  return fc.oneof({ weight: 2, arbitrary: literal }, { weight: 3, arbitrary: names });
}

function composite(depth: number, locals: readonly string[]): fc.Arbitrary<Printer> {
  const inner = expression(depth - 1, locals);
  const args = fc.array(fc.oneof({ weight: 5, arbitrary: inner }, { weight: 1, arbitrary: spread(inner) }), {
    maxLength: 3,
  });
  return fc.oneof(
    { weight: 2, arbitrary: atom(locals) },
    { weight: 3, arbitrary: chain(depth, locals) },
    { weight: 6, arbitrary: fittingCall(depth, locals) },
    { weight: 4, arbitrary: fc.tuple(fc.constantFrom(...OPERATORS), inner, inner).map(binary) },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constantFrom('!', '-', '+', 'typeof '), inner).map(
        ([operator, value]): Printer =>
          (print) =>
            `(${operator}(${value(print)}))`,
      ),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(inner, inner).map(
        ([left, right]): Printer =>
          (print) =>
            `(${left({ ...print, nullSafe: true })} ?? ${right(print)})`,
      ),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(inner, inner, inner).map(
        ([test, then, otherwise]): Printer =>
          (print) =>
            `(${test(print)} ? ${then(print)} : ${otherwise(print)})`,
      ),
    },
    {
      weight: 1,
      arbitrary: fc.array(inner, { maxLength: 3 }).map(
        (parts): Printer =>
          (print) =>
            `\`-${parts.map((part) => `\${${part(print)}}`).join('.')}\``,
      ),
    },
    {
      weight: 2,
      arbitrary: args.map(
        (items): Printer =>
          (print) =>
            `[${items.map((item) => item(print)).join(', ')}]`,
      ),
    },
    { weight: 2, arbitrary: object(inner) },
    {
      weight: 2,
      arbitrary: fc.tuple(fc.constantFrom(...KNOWN_FUNCTIONS), args).map(
        ([name, values]): Printer =>
          (print) =>
            `${name}(${values.map((value) => value(print)).join(', ')})`,
      ),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(inner, fc.constantFrom('', ', null', ', null, 2', ", null, '--'")).map(
        ([value, rest]): Printer =>
          (print) =>
            `JSON.stringify(${value(print)}${rest})`,
      ),
    },
  );
}

function binary([operator, left, right]: [string, Printer, Printer]): Printer {
  return (print) => `(${left(print)} ${operator} ${right(print)})`;
}

function spread(inner: fc.Arbitrary<Printer>): fc.Arbitrary<Printer> {
  return inner.map((value) => (print) => `...${value(print)}`);
}

function object(inner: fc.Arbitrary<Printer>): fc.Arbitrary<Printer> {
  const named = fc.tuple(fc.constantFrom(...KEYS), inner).map(
    ([key, value]): Printer =>
      (print) =>
        `'${key}': ${value(print)}`,
  );
  const computed = fc.tuple(inner, inner).map(
    ([key, value]): Printer =>
      (print) =>
        `[${key(print)}]: ${value(print)}`,
  );
  const properties = fc.array(fc.oneof(named, computed, spread(inner)), { maxLength: 3 });
  return properties.map((all) => (print) => `({ ${all.map((property) => property(print)).join(', ')} })`);
}

/** A method on a value that has it, for more results and fewer errors. */
function fittingCall(depth: number, locals: readonly string[]): fc.Arbitrary<Printer> {
  const inner = expression(depth - 1, locals);
  const args = fc.array(inner, { maxLength: 2 });
  const list = fc.oneof(
    fc.constant(text('a')),
    fc.array(inner, { maxLength: 4 }).map(
      (items): Printer =>
        (print) =>
          `[${items.map((item) => item(print)).join(', ')}]`,
    ),
    inner.map(
      (value): Printer =>
        (print) =>
          `Object.values(${value({ ...print, nullSafe: true })} ?? 0)`,
    ),
  );
  const call = (names: readonly string[]) =>
    fc.tuple(fc.constant(false), fc.constantFrom(...names), args).map(plainCall);
  const callback = fc
    .tuple(fc.constant(false), fc.constantFrom(...CALLBACKS), arrow(depth, locals, ['v', 'i', 'all']))
    .map(callbackCall);
  const fold = fc
    .tuple(
      fc.constant(false),
      fc.constantFrom('reduce', 'reduceRight'),
      arrow(depth, locals, ['acc', 'v', 'i', 'all']),
      inner,
    )
    .map(reduction);
  return fc.oneof(
    fc.tuple(inner, call(STRINGS)).map(
      ([value, method]): Printer =>
        (print) =>
          `String(${value(print)})${method(print)}`,
    ),
    fc.tuple(inner, call(NUMBERS)).map(
      ([value, method]): Printer =>
        (print) =>
          `Number(${value(print)})${method(print)}`,
    ),
    fc.tuple(list, fc.oneof(call(ARRAYS), callback, callback, fold)).map(
      ([value, method]): Printer =>
        (print) =>
          `${value(print)}${method(print)}`,
    ),
  );
}

/** A value followed by members and method calls, each perhaps with `?.`. */
function chain(depth: number, locals: readonly string[]): fc.Arbitrary<Printer> {
  const inner = expression(depth - 1, locals);
  const link = fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.boolean(), fc.constantFrom('x', 'y', 'list', 'name', 'length'))
        .map(([optional, key]) => member(optional, key)),
    },
    { weight: 2, arbitrary: fc.tuple(fc.boolean(), inner).map(([optional, key]) => index(optional, key)) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.boolean(), fc.constantFrom(...PLAIN_METHODS), fc.array(inner, { maxLength: 2 }))
        .map(plainCall),
    },
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.boolean(), fc.constantFrom(...CALLBACKS), arrow(depth, locals, ['v', 'i', 'all']))
        .map(callbackCall),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          fc.boolean(),
          fc.constantFrom('reduce', 'reduceRight'),
          arrow(depth, locals, ['acc', 'v', 'i', 'all']),
          fc.option(inner),
        )
        .map(reduction),
    },
    {
      weight: 1,
      arbitrary: fc.constant(numericSort),
    },
  );
  return fc.tuple(inner, fc.array(link, { minLength: 1, maxLength: 3 })).map(
    ([base, links]): Printer =>
      (print) =>
        `(${base(print)})${links.map((each) => each(print)).join('')}`,
  );
}

function dot(optional: boolean, { forJavaScript, nullSafe }: Print): boolean {
  return optional || (forJavaScript && nullSafe);
}

function member(optional: boolean, key: string): Printer {
  return (print) => `${dot(optional, print) ? '?.' : '.'}${key}`;
}

function index(optional: boolean, key: Printer): Printer {
  return (print) => `${dot(optional, print) ? '?.' : ''}[${key(print)}]`;
}

function plainCall([optional, name, args]: [boolean, string, Printer[]]): Printer {
  const callable = name === 'sort' || name === 'toSorted' ? [] : args;
  return (print) => {
    const written = print.forJavaScript ? (IN_JAVASCRIPT.get(name) ?? name) : name;
    return `${member(optional, written)(print)}(${callable.map((argument) => argument(print)).join(', ')})`;
  };
}

const numericSort: Printer = (print) =>
  `${member(false, print.forJavaScript ? 'toSorted' : 'sort')(print)}((p, q) => p - q)`;

function arrow(depth: number, locals: readonly string[], parameters: readonly string[]): fc.Arbitrary<Printer> {
  const count = fc.integer({ min: 1, max: parameters.length });
  return count.chain((length) => {
    const own = parameters.slice(0, length);
    const visible = [...new Set([...locals, ...own])].sort();
    return expression(depth - 1, visible).map(
      (body): Printer =>
        (print) =>
          `(${own.join(', ')}) => (${body(print)})`,
    );
  });
}

function callbackCall([optional, name, callback]: [boolean, string, Printer]): Printer {
  return (print) => `${member(optional, name)(print)}(${callback(print)})`;
}

function reduction([optional, name, callback, initial]: [boolean, string, Printer, Printer | null]): Printer {
  return (print) => `${member(optional, name)(print)}(${callback(print)}${initial ? `, ${initial(print)}` : ''})`;
}

const scalar = fc.constantFrom(0, 1, 2, -1, 2.5, '', 'a', 'b', 'banana', '10', 'x', true, false, null);

const json: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3, withCrossShrink: true }, scalar, tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 5 }),
})).value;

export const scopes = fc.record({
  a: fc.array(json, { maxLength: 5 }),
  b: fc.dictionary(fc.constantFrom(...KEYS), json, { maxKeys: 6 }),
  c: json,
});
