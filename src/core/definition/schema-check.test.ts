import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { call, codesOf, graph, node, pipeline, plan, problemsOf, step, to } from './definition.testing.ts';
import { describeRange } from './schema-check.ts';

describe('unknown fields', () => {
  it('an unknown field is refused at every level, and a similar name is suggested', () => {
    const definition = graph(
      [
        node('a', {
          parmeters: {},
          edges: [{ targetNode: 'b', conditon: 'true' }],
          policies: { timeout: 5, retry: { maxAttempt: 1 } },
        }),
        node('b'),
      ],
      { startnode: 'a', snapshot: { mod: 'Full' } },
    );
    const found = problemsOf(definition).map(({ code, path, suggestion }) => [code, path, suggestion]);
    expect(found).toEqual([
      ['UNKNOWN_KEY', '/snapshot/mod', 'did you mean `mode`?'],
      ['UNKNOWN_KEY', '/nodes/0/policies/retry/maxAttempt', 'did you mean `maxAttempts`?'],
      ['UNKNOWN_KEY', '/nodes/0/policies/timeout', 'did you mean `timeoutMs`?'],
      ['UNKNOWN_KEY', '/nodes/0/edges/0/conditon', 'did you mean `condition`?'],
      ['UNKNOWN_KEY', '/nodes/0/parmeters', 'did you mean `parameters`?'],
      ['UNKNOWN_KEY', '/startnode', 'did you mean `startNode`?'],
    ]);
  });

  it('an unknown field in a task or step is refused, with the fields allowed there', () => {
    expect(problemsOf(pipeline({ 'a/b': call({ whatever: 1 }) }))).toEqual([
      {
        code: 'UNKNOWN_KEY',
        path: '/tasks/a~1b/whatever',
        message: '`whatever` is not a field here',
        suggestion: expect.stringMatching(/^allowed here: needs, if, url, .*end$/),
      },
    ]);
    expect(codesOf(plan([step('a', { dispatch: { queue: 'x' } })]))).toEqual(['UNKNOWN_KEY /steps/0/dispatch/queue']);
  });

  it('the $schema field of an editor is allowed', () => {
    const $schema = './graph.schema.json';
    expect(codesOf(graph([node('a')], { $schema }))).toEqual([]);
    expect(codesOf(pipeline({ a: call() }, { $schema }))).toEqual([]);
    expect(codesOf(plan([step('a')], { $schema, schemaVersion: 'v1' }))).toEqual([]);
  });
});

describe('values of the wrong kind', () => {
  it.each([
    [{ id: 5 }, 'WRONG_TYPE', 'must be a string, not 5'],
    [{ id: null }, 'WRONG_TYPE', 'must be a string, not null'],
    [{ id: [] }, 'WRONG_TYPE', 'must be a string, not an array'],
    [{ id: {} }, 'WRONG_TYPE', 'must be a string, not an object'],
    [{ id: 'No' }, 'BAD_FORMAT', '"No" must be lower-case letters, digits and hyphens'],
    [{ id: 'X'.repeat(99) }, 'BAD_FORMAT', `"${'X'.repeat(56)}… must be lower-case letters, digits and hyphens`],
    [{ id: 'x'.repeat(201) }, 'OUT_OF_RANGE', 'must not be longer than 200 characters'],
    [{ timeoutMs: 0 }, 'OUT_OF_RANGE', 'must be at least 1'],
    [{ timeoutMs: 1.5 }, 'WRONG_TYPE', 'must be whole milliseconds, or a duration such as "30s", not 1.5'],
    [{ timeoutMs: 1e300 }, 'OUT_OF_RANGE', 'must be at most 9007199254740991'],
    [{ triggerSchema: 'x' }, 'WRONG_TYPE', 'must be an object, not "x"'],
    [{ snapshot: 'x' }, 'WRONG_TYPE', 'must be an object, not "x"'],
    [{ snapshot: { mode: 5 } }, 'NOT_ALLOWED', 'must be "Full" or "SummaryOnly" or "KeysOnly", not 5'],
    [{ snapshot: { keysToInclude: {} } }, 'WRONG_TYPE', 'must be an array, not an object'],
    [{ displayName: undefined }, 'NOT_JSON', 'a value of type undefined is not JSON'],
  ])('a value of the wrong kind is refused: %j', (fields, code, message) => {
    expect(problemsOf(graph([node('a')], fields))).toMatchObject([{ code, message }]);
  });

  it('values of the wrong kind are reported together with wrong names', () => {
    const nodes = [node('a', to('b')), { id: 7, edges: 'none' }, 'nonsense', node('c', { onFailure: 5 })];
    const definition = { ...graph([]), nodes, displayName: 5 };
    expect(codesOf(definition)).toEqual([
      'WRONG_TYPE /displayName',
      'WRONG_TYPE /nodes/1/id',
      'WRONG_TYPE /nodes/1/edges',
      'WRONG_TYPE /nodes/2',
      'WRONG_TYPE /nodes/3/onFailure',
      'MISSING_ACTION_TYPE /nodes/1',
      'MISSING_ACTION_TYPE /nodes/2',
      'UNKNOWN_NODE /nodes/0/edges/0/targetNode',
      'UNREACHABLE /nodes/3',
    ]);
  });

  it('values have an upper limit where it makes sense', () => {
    expect(problemsOf(pipeline({ a: call() }, { max_duration_seconds: 1e9 }))).toMatchObject([
      { code: 'OUT_OF_RANGE', message: 'must be at most 315360000' },
    ]);
  });

  it('an edge without a target is reported only as that', () => {
    expect(codesOf(graph([node('a', { edges: [{ when: 'never' }, {}] })]))).toEqual([
      'REQUIRED /nodes/0/edges/0/targetNode',
      'NOT_ALLOWED /nodes/0/edges/0/when',
      'REQUIRED /nodes/0/edges/1/targetNode',
    ]);
  });
});

describe('a range', () => {
  const said = (schema: z.ZodType, value: unknown) =>
    schema.safeParse(value).error!.issues.map((issue) => describeRange(issue as Parameters<typeof describeRange>[0]));

  it.each([
    [z.string().max(3), 'four', 'must not be longer than 3 characters'],
    [z.array(z.number()).max(1), [1, 2], 'must not be longer than 1 items'],
    [z.string().min(1), '', 'must not be empty'],
    [z.array(z.number()).min(2), [1], 'must have at least 2 items'],
    [z.number().max(3), 4, 'must be at most 3'],
    [z.number().lt(3), 3, 'must be less than 3'],
    [z.number().min(3), 2, 'must be at least 3'],
    [z.number().gt(3), 3, 'must be more than 3'],
  ])('the message for a value out of range names the nearest limit: %#', (schema, value, expected) => {
    expect(said(schema, value)).toEqual([expected]);
  });

  it('a range that does not say whether its limit is included includes it', () => {
    const issue = { origin: 'number' as const, path: [], message: '', input: 1 };
    expect(describeRange({ ...issue, code: 'too_big', maximum: 3 })).toBe('must be at most 3');
    expect(describeRange({ ...issue, code: 'too_small', minimum: 3 })).toBe('must be at least 3');
  });
});
