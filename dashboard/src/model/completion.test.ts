import { describe, expect, it } from 'vitest';
import { completeExpression, isExpressionKey } from './completion.ts';

const DATA = {
  trigger: { amount: 7, customer: { name: 'ada' } },
  context: { data: { fetch: { rows: [{ id: 1 }], ok: true }, charge: null } },
};

const names = (expression: string) => completeExpression(expression, DATA)?.options.map(({ name }) => name);

describe('completion of an expression', () => {
  it('offers what stands at the path that is typed', () => {
    expect(names('')).toEqual(['trigger', 'context']);
    expect(names(' trigger.')).toEqual(['amount', 'customer']);
    expect(names('1 + trigger.customer.')).toEqual(['name']);
    expect(names('context.data.fetch.rows[0].')).toEqual(['id']);
    expect(names('len(context.data.')).toEqual(['fetch', 'charge']);
  });

  it('keeps what is typed of the next name, and shows a sample of each', () => {
    expect(completeExpression('context.data.fetch.ro', DATA)).toEqual({
      prefix: 'ro',
      options: [
        { name: 'rows', sample: 'list of 1' },
        { name: 'ok', sample: 'true' },
      ],
    });
    expect(completeExpression('trigger.', DATA)!.options).toEqual([
      { name: 'amount', sample: '7' },
      { name: 'customer', sample: '{ … }' },
    ]);
  });

  it('offers nothing where nothing is known, and is silent after a closed term', () => {
    expect(names('trigger.amount.')).toEqual([]);
    expect(names('nobody.knows.')).toEqual([]);
    expect(names('context.data.fetch.rows[9].')).toEqual([]);
    expect(names('context.data.fetch.ok[0].')).toEqual([]);
    expect(completeExpression('f(1).', DATA)).toBeNull();
  });

  it('knows the fields whose whole text is an expression', () => {
    expect(['condition', 'if', 'parameters'].map(isExpressionKey)).toEqual([true, true, false]);
  });
});
