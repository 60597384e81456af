import { expect, it } from 'vitest';
import { decide } from './decide.ts';
import { buildPlan, START } from './plan-builder.testing.ts';
import { initialState } from './state.ts';

it('evaluations and renderings can be measured, and measuring does not change decisions', () => {
  const plan = buildPlan({
    format: 'graph',
    nodes: [
      {
        id: 'a',
        parameters: { n: '{{ 1 + 1 }}' },
        edges: [
          { to: 'b', condition: 'true' },
          { to: 'c', condition: 'trigger.x.y' },
        ],
      },
      { id: 'b' },
      { id: 'c' },
    ],
  });
  const measured: string[] = [];
  const context = { now: 1_000, seed: 1, abortGraceMs: 5_000 };
  const play = (extra: object) => {
    const state = initialState(plan, START);
    const first = decide(state, { type: 'started' }, { ...context, ...extra });
    const done = { type: 'attemptSucceeded', node: 0, attempt: 1, outputs: {}, bytes: 2 } as const;
    return [first, decide(state, done, { ...context, ...extra })];
  };
  const live = play({
    measure: <Result>(what: string, work: () => Result) => {
      measured.push(what);
      return work();
    },
  });
  expect(measured).toEqual(['template', 'condition', 'condition']);
  expect(live).toEqual(play({}));
});
