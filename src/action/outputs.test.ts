import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeOutputs } from './outputs.ts';

const LIMIT = 1024 * 1024;

function nested(depth: number): unknown {
  let value: unknown = 'leaf';
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

function circular(): unknown {
  const item: Record<string, unknown> = { name: 'a' };
  item.parent = { items: [item] };
  return { item };
}

/** Small in memory, 2^40 elements as text. */
function exponential(): unknown {
  let value: unknown = [1, 1];
  for (let level = 0; level < 40; level += 1) value = [value, value];
  return value;
}

describe('outputs that are JSON', () => {
  it('outputs give the same text as JSON.stringify, for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value);
        expect(encodeOutputs(value, LIMIT)).toEqual({ ok: true, text, bytes: Buffer.byteLength(text) });
      }),
      { numRuns: 500 },
    );
  });

  it.each<[string, unknown, string]>([
    ['nothing', undefined, '{}'],
    ['an object that writes itself as nothing', { toJSON: () => undefined }, '{}'],
    ['a date', { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    [
      'an instance of a class',
      new (class Point {
        x = 1;
      })(),
      '{"x":1}',
    ],
    ['a prototype-free object', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ['the same object twice', ((shared) => [shared, shared])({ a: 1 }), '[{"a":1},{"a":1}]'],
    ['an object that writes itself as another', { toJSON: () => ({ a: 1 }) }, '{"a":1}'],
    ['an own key __proto__', JSON.parse('{"__proto__":{"x":1}}'), '{"__proto__":{"x":1}}'],
    ['U+0000 and half a surrogate pair', '\u0000\ud800', '"\\u0000\\ud800"'],
    ['500 levels', nested(500), JSON.stringify(nested(500))],
  ])('outputs are encoded as JSON: %s', (_name, value, text) => {
    expect(encodeOutputs(value, LIMIT)).toMatchObject({ ok: true, text });
  });
});

describe('outputs that are not JSON', () => {
  it.each<[string, unknown, string]>([
    ['a function', { a: [0, { run() {} }] }, 'outputs.a[1].run is a function'],
    ['a function at the top', () => {}, 'outputs is a function'],
    ['a symbol', { 'odd key': Symbol('x') }, 'outputs["odd key"] is a symbol'],
    ['a bigint', [1n], 'outputs[0] is a bigint'],
    ['a Map', { index: new Map() }, 'outputs.index is a Map'],
    ['a Set', new Set(), 'outputs is a Set'],
    ['a forgotten await', { body: Promise.resolve(1) }, 'outputs.body is a Promise (is an await missing?)'],
    ['an Error', { error: new Error('x') }, 'outputs.error is a Error'],
    ['bytes', new Uint8Array(2), 'outputs is a Uint8Array'],
    ['a function behind toJSON', { a: { toJSON: () => ({ b: () => {} }) } }, 'outputs.a.b is a function'],
    ['a cycle', circular(), 'outputs.item.parent.items[0] refers back to an object that contains it'],
    ['too many levels', nested(501), 'The outputs are nested deeper than 500 levels'],
    ['far too many levels', nested(100_000), 'The outputs are nested deeper than 500 levels'],
    [
      'a getter that throws',
      {
        get a() {
          throw new Error('no access');
        },
      },
      'The outputs cannot be read: no access',
    ],
    [
      'a toJSON that throws a value',
      {
        toJSON() {
          throw 'x';
        },
      },
      'The outputs cannot be read: a getter or toJSON threw',
    ],
  ])('outputs are refused with the place: %s', (_name, value, message) => {
    expect(encodeOutputs(value, LIMIT)).toEqual({ ok: false, code: 'OUTPUT_NOT_JSON', message });
  });

  it('a long path in the error is cut', () => {
    let value: unknown = 1n;
    for (let level = 0; level < 50; level += 1) value = { a: value };
    expect(encodeOutputs(value, LIMIT)).toMatchObject({ message: `outputs${'.a'.repeat(12)}… is a bigint` });
  });

  it('shared parts of a deep value are checked once', () => {
    let value: unknown = nested(600);
    for (let level = 0; level < 40; level += 1) value = [value, value];
    expect(encodeOutputs(value, Number.POSITIVE_INFINITY)).toMatchObject({ code: 'OUTPUT_NOT_JSON' });
  });
});

describe('outputs that are too large', () => {
  it('outputs one byte over the limit are refused, and the error names both sizes', () => {
    expect(encodeOutputs('é'.repeat(10), 22)).toMatchObject({ ok: true, bytes: 22 });
    expect(encodeOutputs('é'.repeat(10), 21)).toMatchObject({
      code: 'OUTPUT_TOO_LARGE',
      message: expect.stringContaining('The outputs are 22 bytes; the limit is 21 bytes.'),
    });
  });

  it.each<[string, unknown]>([
    ['a huge string', { text: 'x'.repeat(LIMIT + 1) }],
    ['huge keys', { ['k'.repeat(LIMIT)]: 1, b: 2 }],
    ['a value that is small in memory and endless as text', exponential()],
  ])('%s is refused before its text is built', (_name, value) => {
    expect(encodeOutputs(value, LIMIT)).toMatchObject({
      code: 'OUTPUT_TOO_LARGE',
      message: expect.stringContaining(`The outputs are more than ${LIMIT} bytes; the limit is ${LIMIT} bytes.`),
    });
  });
});
