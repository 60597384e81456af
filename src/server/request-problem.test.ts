import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { requestProblems } from '../core/error/request-invalid.ts';
import { reportIssues } from './request-problem.ts';

const schema = z.object({
  kind: z.discriminatedUnion('type', [z.object({ type: z.literal('A') }), z.object({ type: z.literal('B') })]),
  level: z.enum(['LOW', 'HIGH']),
  params: z.record(z.string(), z.unknown()),
  count: z.int().min(1).max(5),
  share: z.number().positive(),
  name: z.string().min(3),
  tags: z.array(z.string()).min(1).max(2),
  ours: z.string().regex(/^x$/, 'must be an x'),
});

const good = { kind: { type: 'A' }, level: 'LOW', params: {}, count: 1, share: 1, name: 'abc', tags: ['a'], ours: 'x' };

function said(wrong: object): string[] {
  const { error } = schema.safeParse({ ...good, ...wrong });
  const problems = requestProblems();
  reportIssues('body', error!, schema, problems);
  return problems.all().map(({ path, message }) => `${path} ${message}`);
}

describe('the message for a problem of a request', () => {
  it.each([
    [{ kind: { type: 'C' } }, '/kind/type must be "A" or "B"'],
    [{ level: 'MEDIUM' }, '/level must be "LOW" or "HIGH"'],
    [{ params: [] }, '/params must be an object, not an array'],
    [{ params: null }, '/params must be an object, not null'],
    [{ params: undefined }, '/params is required'],
    [{ count: 1.5 }, '/count must be a whole number'],
    [{ count: 'x' }, '/count must be a number, not a string'],
    [{ count: 9 }, '/count must be at most 5'],
    [{ share: 0 }, '/share must be more than 0'],
    [{ name: 'ab' }, '/name must have at least 3 characters'],
    [{ tags: [] }, '/tags must not be empty'],
    [{ tags: ['a', 'b', 'c'] }, '/tags must not be longer than 2 items'],
    [{ ours: 'y' }, '/ours must be an x'],
  ])('a problem of a request gets a message of ours: %j', (wrong, message) => {
    expect(said(wrong)).toEqual([message]);
  });
});
