import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { issueMessage } from './issue-message.ts';
import { webhookSchema } from './webhook-schema.ts';

const said = (schema: z.ZodType, value: unknown): string[] =>
  schema.safeParse(value).error?.issues.map(issueMessage) ?? [];

describe('the message for an invalid value', () => {
  it.each<[string, z.ZodType, unknown, string]>([
    ['is missing', z.object({ a: z.string() }), {}, 'is required'],
    ['has another type', z.string(), 5, 'must be a string, not a number'],
    ['is null', z.string(), null, 'must be a string, not null'],
    ['is no number at all', z.number(), Number.NaN, 'must be a number, not NaN'],
    ['is no whole number', z.int(), 1.5, 'must be a whole number'],
    ['is none of the choices', z.enum(['a', 'b']), 'c', 'must be "a" or "b"'],
    ['is too small', z.number().min(3), 1, 'must be at least 3'],
    ['is too large', z.number().max(3), 5, 'must be at most 3'],
    ['is refused in our own words', z.string().refine(() => false, 'must rhyme'), 'x', 'must rhyme'],
    ['is none of a union', z.union([z.string(), z.number()]), true, 'Invalid input'],
  ])('the message for a value that %s', (_what, schema, value, expected) => {
    expect(said(schema, value)).toEqual([expected]);
  });

  it('a value that matches no kind of a discriminated union gives one message', () => {
    const schema = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a') }),
      z.object({ kind: z.literal('b') }),
    ]);
    expect(said(schema, { kind: 'c' })).toHaveLength(1);
  });

  it('an issue without a message of our own keeps the message of the library', () => {
    expect(said(z.string().regex(/^a$/), 'b')).toEqual([expect.stringContaining('Invalid string')]);
  });
});

it.each([
  [{ header: 'x-sign', content: '{timestamp}.{body}' }, false],
  [{ header: 'x-sign', timestampHeader: 'x-time', content: '{body}' }, false],
  [{ header: 'x-sign', timestampHeader: 'x-time', content: '{timestamp}.{body}' }, true],
  [{ header: 'x-sign', timestampHeader: 'x-time' }, true],
  [{ header: 'x-sign', toleranceS: 5 }, false],
])('a signature %j is complete: %s', (hmac, isFine) => {
  expect(webhookSchema.safeParse({ verification: { hmac } }).success).toBe(isFine);
});
