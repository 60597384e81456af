import { expect, it } from 'vitest';
import { TextCache } from './text-cache.ts';

it('makes each thing once, and lets the longest unused go when the texts are too long together', () => {
  const made: string[] = [];
  const cache = new TextCache(6, (text) => {
    made.push(text);
    return text.toUpperCase();
  });
  expect(['aa', 'bb', 'aa', 'cc', 'aa'].map((text) => cache.get(text))).toEqual(['AA', 'BB', 'AA', 'CC', 'AA']);
  expect(made).toEqual(['aa', 'bb', 'cc']);
  cache.get('dd'); // bb goes
  cache.get('aa');
  cache.get('bb');
  expect(made).toEqual(['aa', 'bb', 'cc', 'dd', 'bb']);
});

it('does not keep what is too long by itself, nor what could not be made', () => {
  let tries = 0;
  const cache = new TextCache(3, (text) => {
    tries += 1;
    if (text === 'x') throw new Error('no');
    return tries;
  });
  expect([cache.get('long'), cache.get('long')]).toEqual([1, 2]);
  expect(() => cache.get('x')).toThrow('no');
  expect(() => cache.get('x')).toThrow('no');
  expect(tries).toBe(4);
});
