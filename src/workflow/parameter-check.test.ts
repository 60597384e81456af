import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Json } from '../core/json/json.ts';
import { ParameterCheck } from './parameter-check.ts';

const SCHEMA = JSON.stringify(
  z.toJSONSchema(
    z.strictObject({
      channel: z.string(),
      count: z.int().max(5).optional(),
      to: z.union([z.string(), z.array(z.strictObject({ name: z.string(), age: z.int() }))]).optional(),
    }),
  ),
);

const check = new ParameterCheck();
const wrong = (parameters: Json) => check.problems(SCHEMA, parameters, '/p').map(({ path }) => path);

describe('parameters without a template', () => {
  it.each<[string, Json, string[]]>([
    ['are fine', { channel: 'c', count: 3 }, []],
    ['have the wrong type', { channel: 1 }, ['/p/channel']],
    ['are missing', {}, ['/p']],
    ['are unknown', { channel: 'c', chanel: 'd' }, ['/p/chanel']],
    ['are too much', { channel: 'c', count: 6 }, ['/p/count']],
    ['are a template', { channel: '{{ trigger.c }}', count: '{{ trigger.n }}' }, []],
    ['are wrong beside a template', { channel: 7, count: '{{ trigger.n }}' }, ['/p/channel']],
    ['are missing beside a template', { count: '{{ trigger.n }}' }, ['/p']],
    ['are alternatives that depend on a template', { channel: 'c', to: [{ name: 'n', age: '{{ trigger.age }}' }] }, []],
  ])('parameters that %s are checked', (_, parameters, paths) => {
    expect(wrong(parameters)).toEqual(paths);
  });

  it('an unknown parameter is reported with a suggestion, or with the names that the action takes', () => {
    const found = (parameters: Json) => check.problems(SCHEMA, parameters, '/p').at(-1);
    expect(found({ channel: 'c', chanel: 'd' })).toMatchObject({ suggestion: 'did you mean `channel`?' });
    expect(found({ channel: 'c', text: 'd' })).toMatchObject({
      message: '`text` is not a known field',
      suggestion: 'it takes channel, count, to',
    });
  });

  it('alternatives are checked when they have no template', () => {
    expect(wrong({ channel: 'c', to: [{ name: 'n', age: 'old' }] })).toContain('/p/to');
  });
});
