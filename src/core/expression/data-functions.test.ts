import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluate } from './evaluate.ts';
import { parseExpression } from './parse.ts';

function value(source: string, trigger: unknown = {}): unknown {
  const parsed = parseExpression(source, { roots: ['trigger'], dialect: 'javascript' });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return evaluate(parsed.expr, { trigger });
}

describe('functions over data', () => {
  it('times are numbers, and are formatted with an explicit zone', () => {
    expect(value("Date.parse('2026-02-10T12:00:00Z')")).toBe(Date.UTC(2026, 1, 10, 12));
    expect(value("Date.parse('soon')")).toBeNaN();
    expect(value("toISO(Date.parse('2026-02-10') + 24 * 3600 * 1000)")).toBe('2026-02-11T00:00:00.000Z');
    expect(value("formatTime(0, 'dd.MM.yyyy', '+02:00')")).toBe('01.01.1970');
    expect(value('formatTime(0)')).toBe('1970-01-01 00:00:00');
    expect(() => value("formatTime(0, 'dd', 'he' + 're')")).toThrow('formatTime takes');
    expect(() => value("toISO('x')")).toThrow('cannot be written');
  });

  it('text is parsed as JSON', () => {
    expect(value('JSON.parse(trigger.t).a[0]', { t: '{"a":[7]}' })).toBe(7);
    expect(() => value("JSON.parse('{')")).toThrow('not JSON');
  });

  it('objects are built from pairs', () => {
    expect(value("Object.fromEntries([['a', 1], ['__proto__', 2]])")).toEqual(
      Object.fromEntries([
        ['a', 1],
        ['__proto__', 2],
      ]),
    );
    expect(() => value('Object.fromEntries([1])')).toThrow('[key, value]');
    expect(() => value("Object.fromEntries('x')")).toThrow('takes a list');
  });

  it('lists are indexed by a value of their items', () => {
    const rows = [
      { id: 'a', n: { m: 1 } },
      { id: 'b', n: { m: 2 } },
      { id: 'a', n: { m: 1 } },
      7,
      { id: 'c', n: null },
    ];
    expect(value("keyBy(trigger, 'id').a", rows)).toBe(rows[2]);
    expect(value("groupBy(trigger, 'n.m')", rows)).toEqual({
      '1': [rows[0], rows[2]],
      '2': [rows[1]],
      null: [7, rows[4]],
    });
  });

  it('S4: a join of 200 by 200 fits into the budget', () => {
    const rows = Array.from({ length: 200 }, (_, n) => ({ id: `k${n}`, n }));
    const source = "[keyBy(trigger, 'id')].flatMap(by => trigger.map(row => by[row.id].n))";
    expect(value(source, rows)).toHaveLength(200);
  });

  it('base64, hashes and signatures of text are the same as elsewhere', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const encoded = Buffer.from(text, 'utf8').toString('base64');
        expect(value('base64Encode(trigger)', text)).toBe(encoded);
        expect(value('base64Decode(trigger)', encoded)).toBe(text);
        expect(value('base64Decode(trigger)', Buffer.from(text, 'utf8').toString('base64url'))).toBe(text);
        expect(value('sha256(trigger)', text)).toBe(createHash('sha256').update(text).digest('hex'));
        expect(value("hmacSha256('key', trigger)", text)).toBe(createHmac('sha256', 'key').update(text).digest('hex'));
      }),
    );
    expect(() => value("base64Decode('*')")).toThrow('not base64');
    expect(() => value("base64Decode('_w')")).toThrow('not a text');
    expect(() => value('sha256(trigger)', '\ud800')).toThrow('half a character');
  });
});
