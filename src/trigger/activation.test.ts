import { expect, it } from 'vitest';
import { Judge } from './activation.ts';

const COSTLY = "'a'.repeat(1000).split('').some((a, i, all) => all.every(() => all.sort().length > 0 && false))";

it('S4: many costly expressions let the event loop run', async () => {
  const judge = new Judge();
  let turns = 0;
  const counting = setInterval(() => turns++, 0);
  const verdicts = await Promise.all(
    Array.from({ length: 12 }, () => judge.verdict('filter', COSTLY, 'graph', { trigger: {}, event: {} })),
  );
  clearInterval(counting);
  expect(turns).toBeGreaterThan(1);
  for (const verdict of verdicts) expect(verdict).toMatchObject({ holds: false, failed: true });
});

it('an expression within its limits is evaluated, and one over its limits fails', async () => {
  const judge = new Judge({ limits: { maxSteps: 5, maxDepth: 10, maxBytes: 100 } });
  const of = (source: string) => judge.verdict('condition', source, 'graph', { trigger: { n: 1 } });
  expect(await of('trigger.n === 1')).toEqual({ holds: true });
  expect(await of('trigger.n === 2')).toMatchObject({ holds: false, failed: false });
  expect(await of('trigger.n + trigger.n + trigger.n === 3')).toMatchObject({
    failed: true,
    reason: expect.stringContaining('5 steps'),
  });
});
