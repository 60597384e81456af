// Describes a problem with an option in one line: the option, the expected and the given value, and its source.

import type { z } from 'zod';
import { nearMiss } from '../core/problem/near-miss.ts';
import { CONFIDENTIAL } from './option-section.ts';

export interface Given {
  readonly value: unknown;
  /** A variable, a file, or a program's own options. */
  readonly from: string;
}

export function unknownOption(name: string, from: string, known: readonly string[]): string {
  const near = nearMiss(name, known);
  return `- ${name}: there is no such option${near === undefined ? '' : `; did you mean ${near}?`} (from ${from})`;
}

export function wrongOption(name: string, issue: z.core.$ZodIssue, given: Given | undefined): string {
  const [, ...inside] = issue.path;
  const place = [name, ...inside.map(String)].join('.');
  const came = CONFIDENTIAL.has(name) ? 'something else' : JSON.stringify(given?.value);
  const from = given === undefined ? '' : ` (from ${given.from})`;
  return `- ${place}: expected ${expected(issue)}, got ${came}${from}`;
}

const FORMS: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  string: 'text',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  url: 'a URL',
};

function expected(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return FORMS[issue.expected] ?? issue.expected;
    case 'too_small':
      return issue.origin === 'string' ? `at least ${issue.minimum} characters` : `at least ${issue.minimum}`;
    case 'too_big':
      return `at most ${issue.maximum}`;
    case 'invalid_value':
      return `one of ${issue.values.join(', ')}`;
    case 'invalid_format':
      return FORMS[issue.format] ?? issue.message.replace(/^(expected|must be) /, '');
    case 'unrecognized_keys':
      return `nothing called ${issue.keys.join(', ')}`;
    default:
      return issue.message;
  }
}
