// A decision that would take too long is interrupted and continued (S4).

import { expect, it } from 'vitest';
import { decide } from './decide.ts';
import { applyTransition } from './evolve.ts';
import type { Input } from './input.ts';
import { buildPlan, type PlanSpec, START } from './plan-builder.testing.ts';
import { isLeftOpen } from './routing.ts';
import { initialState } from './state.ts';

const COSTLY = "'a'.repeat(1000).split('').some((a, i, all) => all.every(() => all.sort().length > 0 && false))";
const CONTEXT = { now: 1_000, seed: 1, abortGraceMs: 5_000 };
const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
const STARTED: Input = { type: 'started' };
const FIRST_DONE: Input = { type: 'attemptSucceeded', node: 0, attempt: 1, outputs: {}, bytes: 2 };

function setup(nodes: PlanSpec['nodes']) {
  const plan = buildPlan({ format: 'graph', nodes });
  const state = initialState(plan, START);
  const folded = initialState(plan, START);
  return {
    state,
    folded,
    send(input: Input) {
      const decision = decide(state, input, CONTEXT);
      applyTransition(folded, decision.transition);
      return decision;
    },
  };
}

it('a decision evaluates a limited number of conditions, and the next one continues there', () => {
  const edges = names.map((to) => ({ to, condition: COSTLY }));
  const run = setup([{ id: 'first', edges }, ...names.map((id) => ({ id }))]);
  run.send(STARTED);
  const slices = [run.send(FIRST_DONE)];
  while (slices.at(-1)!.isCutShort) {
    expect(isLeftOpen(run.folded)).toBe(true);
    slices.push(run.send({ type: 'goOn' }));
  }
  for (const { effort } of slices) expect(effort).toBeLessThan(3);
  expect(slices.length).toBeGreaterThan(5);
  expect(run.state.status).toBe('Succeeded');
  expect(run.folded.edges).toEqual(run.state.edges);
  expect(run.state.edges).toEqual(names.map(() => 'unsatisfied'));
});

it('a decision hands out a limited number of parameters, even if they are the plain trigger', () => {
  const edges = names.map((to) => ({ to }));
  const plan = buildPlan({
    format: 'graph',
    nodes: [{ id: 'first', edges }, ...names.map((id) => ({ id, parameters: { all: '{{ trigger }}' } }))],
  });
  const state = initialState(plan, { ...START, trigger: { text: 'x'.repeat(1_000_000) } });
  decide(state, STARTED, CONTEXT);
  const counts: number[] = [];
  for (let next: Input | null = FIRST_DONE; next !== null; ) {
    const { commands, isCutShort } = decide(state, next, CONTEXT);
    counts.push(commands.length);
    next = isCutShort ? { type: 'goOn' } : null;
  }
  expect(Math.max(...counts)).toBeLessThan(5);
  expect(counts.reduce((sum, count) => sum + count)).toBe(names.length);
});

it('a failure counts as unhandled only after all its edges were evaluated', () => {
  const edges = names.map((to) => ({ to, condition: COSTLY, when: 'failure' as const }));
  edges.push({ to: 'rescue', condition: 'true', when: 'failure' });
  const run = setup([{ id: 'first', edges }, ...names.map((id) => ({ id })), { id: 'rescue' }]);
  run.send(STARTED);
  const error = { code: 'BROKEN', message: 'it broke' };
  let { isCutShort } = run.send({ type: 'attemptFailed', node: 0, attempt: 1, error, retryable: false });
  expect(isCutShort).toBe(true);
  while (isCutShort) ({ isCutShort } = run.send({ type: 'goOn' }));
  expect(run.state.status).toBe('Running');
  expect(run.state.nodes.at(-1)!.status).toBe('Running');
});

it('an execution does not end before all edges were evaluated, even if their targets have ended', () => {
  const costly = names.map(() => ({ to: 'rescue', condition: COSTLY, when: 'failure' as const }));
  const edges = [...costly, { to: 'rescue', when: 'failure' as const }];
  const run = setup([{ id: 'first', edges }, { id: 'rescue' }, { id: 'beside' }]);
  const finish = (input: Input) => {
    for (let { isCutShort } = run.send(input); isCutShort; ) ({ isCutShort } = run.send({ type: 'goOn' }));
  };
  const error = { code: 'BROKEN', message: 'it broke' };
  const fail = (attempt: number): Input => ({ type: 'attemptFailed', node: 0, attempt, error, retryable: false });
  run.send(STARTED);
  finish(fail(1));
  run.send({ type: 'signal', signalId: 's', signal: 'RETRY_STEP', payload: { stepId: 'first', force: true } });
  for (const node of [1, 2]) run.send({ ...FIRST_DONE, node });
  expect(run.send(fail(2)).isCutShort).toBe(true);
  expect(run.state.status).toBe('Running');
  expect(run.send({ type: 'timerDue' }).transition.facts).toEqual([]);
  finish({ type: 'goOn' });
  expect(run.state.status).toBe('Succeeded');
  expect(run.state.edges).toEqual([...names.map(() => 'unsatisfied'), 'satisfied']);
});

it('an interrupted decision is not continued after the execution has ended', () => {
  const edges = names.map((to) => ({ to, condition: COSTLY }));
  const run = setup([{ id: 'first', edges }, ...names.map((id) => ({ id }))]);
  run.send(STARTED);
  run.send(FIRST_DONE);
  run.send({ type: 'cancel', reason: 'asked to' });
  expect(run.state.status).toBe('Cancelled');
  expect(run.send({ type: 'goOn' }).transition.facts).toEqual([]);
  expect(isLeftOpen(run.state)).toBe(false);
});
