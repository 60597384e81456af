import { expect, test } from 'vitest';
import { nearMiss } from './near-miss.ts';

test('the closest name is suggested', () => {
  expect(nearMiss('tirgger', ['context', 'trigger', 'tiger'])).toBe('trigger');
  expect(nearMiss('Status', ['status', 'state'])).toBe('status');
  expect(nearMiss('itms', ['items', 'item'])).toBe('items');
  expect(nearMiss('z', ['a', 'Z'])).toBe('Z');
});

test('nothing is suggested when no name is close', () => {
  expect(nearMiss('abc', ['xyz', 'abcde'])).toBeUndefined();
  expect(nearMiss('trigger', ['trigger'])).toBeUndefined();
  expect(nearMiss('z', ['a', 'x', 'zz'])).toBeUndefined();
  expect(nearMiss('x'.repeat(100), [`${'x'.repeat(99)}y`])).toBeUndefined();
});

test('only the first few hundred names are compared', () => {
  const many = Array.from({ length: 600 }, (_, index) => `a-long-name-${index}`);
  expect(nearMiss('trigge', [...many, 'trigger'])).toBeUndefined();
});
