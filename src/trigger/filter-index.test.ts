import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Json } from '../core/json/json.ts';
import { Judge } from './activation.ts';
import { FilterIndex } from './filter-index.ts';

const path = fc.constantFrom(
  'trigger.a',
  'trigger.b.c',
  'event.data.a',
  'trigger.body.a',
  'trigger',
  'event.type',
  "trigger['a']",
);
const literal = fc.constantFrom('1', "'1'", "'x'", '2', "''", '0', 'null', 'true');
const comparison = fc
  .tuple(path, fc.constantFrom('==', '===', '!=', '>'), literal)
  .map(([left, operator, right]) => `${left} ${operator} ${right}`);
const filter = fc.oneof(
  { weight: 3, arbitrary: comparison },
  fc.tuple(comparison, comparison).map(([first, second]) => `${first} && ${second}`),
  fc.tuple(comparison, comparison).map(([first, second]) => `${first} || ${second}`),
);
const value = fc.constantFrom<Json>(1, '1', 'x', 2, '', 0, null, true, [], ['x'], { c: 1 }, { c: 'x' }, {});
const data = fc.oneof(value, fc.dictionary(fc.constantFrom('a', 'b'), value));
const event = fc.record({ id: fc.constant('e'), type: fc.constantFrom('x', '1'), data });
const listener = fc.record({ source: filter, format: fc.constantFrom('graph', 'pipeline') });

it('the filter index leaves out only filters that are clearly false', async () => {
  const judge = new Judge();
  await fc.assert(
    fc.asyncProperty(fc.array(listener, { maxLength: 12 }), event, async (listeners, sent) => {
      const index = new FilterIndex(
        listeners.map(({ source, format }) => ({
          expr: judge.filterExpression(source, format),
          isPipeline: format === 'pipeline',
        })),
      );
      const asked = index.candidates(sent);
      expect(asked).toEqual([...asked].sort((left, right) => left - right));
      for (const [place, { source, format }] of listeners.entries()) {
        if (asked.includes(place)) continue;
        const trigger = format === 'pipeline' ? { body: sent.data, headers: {} } : sent.data;
        const verdict = await judge.verdict('filter', source, format, { trigger, event: sent });
        expect(verdict).toMatchObject({ holds: false, failed: false });
      }
    }),
    { numRuns: 1_000 },
  );
});

it('the filter index finds one filter of a thousand by the value of its field', () => {
  const judge = new Judge();
  const sources = Array.from({ length: 1_000 }, (_, n) => `trigger.shop == ${n} && trigger.amount > 10`);
  const index = new FilterIndex(
    sources.map((source) => ({ expr: judge.filterExpression(source, 'graph'), isPipeline: false })),
  );
  expect(index.candidates({ id: 'e', type: 'paid', data: { shop: 17 } })).toEqual([17]);
  expect(index.candidates({ id: 'e', type: 'paid', data: { shop: 1_017 } })).toEqual([]);
  // Whether they can be judged at all is for the filters to say.
  expect(index.candidates({ id: 'e', type: 'paid', data: {} })).toHaveLength(1_000);
});
