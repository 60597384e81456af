import { expect, it } from 'vitest';
import { patternPower } from './plain-pattern.ts';

it.each<[string, number]>([
  ['^[A-Z]{3}-[0-9]+$', 1],
  ['^\\d{5}(-\\d{4})?$', 1],
  ['^(?:EUR|USD)', 1],
  ['^a{2,5}\\.b$', 1],
  ['^\\p{Lu}\\u0041\\x41\\u{1F600}$', 1],
  ['a', 1],
  ['a+', 2],
  ['^[^@]+@[^@]+$', 2],
  ['^(?<year>\\d{4})-\\d\\d$', 1],
  ['\\bnever\\B', 1],
  ['', 1],
])('the matching time of %j grows with the power %d', (source, power) => {
  expect(patternPower(source)).toBe(power);
});

it.each([
  '^(a+)+$',
  '(a|b)*',
  '^(a|aa)+$',
  '^(a?){30}a{30}$',
  '^a*a*a*a*b$',
  '(.*)(.*)(.*)x',
  '(?=a)a',
  '(?<!a)b',
  '^(a)\\1$',
  '(?<x>a)\\k<x>',
  '^a{0,40}$',
  '^a{2000}$',
  '(',
  'a'.repeat(201),
])('the matching time of %j is not bounded', (source) => {
  expect(patternPower(source)).toBeNull();
});
