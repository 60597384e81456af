import { expect, it } from 'vitest';
import { compileDefinition, compileInSteps } from '../definition/compile.ts';
import type { Json } from '../json/json.ts';
import type { Problem } from '../problem/problem.ts';
import { compileTemplateInSteps } from '../template/compile.ts';
import { allAtOnce, type Steps } from './steps.ts';

it('allAtOnce runs every step and returns the result of the last', () => {
  const taken: number[] = [];
  function* work(): Steps<string> {
    for (let step = 0; step < 3; step++) {
      taken.push(step);
      yield;
    }
    return 'done';
  }
  expect(allAtOnce(work())).toBe('done');
  expect(taken).toEqual([0, 1, 2]);
});

it.each([
  ['edges', { edges: Array.from({ length: 20_000 }, () => 1) }],
  ['parameters', { parameters: { all: Array.from({ length: 20_000 }, () => '{{ foo') } }],
])('S4: problems in many %s are found in many steps, and counted', (_, wrong) => {
  const nodes = [{ id: 'a', actionType: 'core.echo', ...wrong }];
  const steps = compileInSteps({ id: 'w', displayName: 'W', startNode: 'a', nodes });
  let count = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) count++;
  expect(count).toBeGreaterThan(200);
  expect(step.value).toMatchObject({ ok: false });
  const { problems } = step.value as { problems: Problem[] };
  expect(problems).toHaveLength(1_001);
  expect(problems.at(-1)!.message).toBe('and 19000 more problems');
});

it('S4: the members of large parameters are compiled in steps, like the elements of a list', () => {
  const parameters = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key${index}`, 1]));
  const stepsOf = (value: Json) => [...compileTemplateInSteps(value, { roots: [], dialect: 'javascript' })].length;
  expect(stepsOf(parameters)).toBe(5);
  expect(stepsOf(Object.values(parameters))).toBe(5);
});

it('S4: only as many problems as the limit are built for unknown keys', () => {
  const nodes = [{ id: 'a', actionType: 'core.echo' }];
  const keys = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`key${index}`, 1]));
  const compiled = compileDefinition({ ...keys, id: 'w', displayName: 'W', startNode: 'a', nodes });
  expect((compiled as { problems: Problem[] }).problems.at(-1)!.message).toBe('and 59000 more problems');
});

it('S4: compiling yields at least once for every expression', () => {
  const parameters = { all: Array.from({ length: 200 }, (_, index) => `{{ trigger.a + ${index} }}`) };
  const edges = Array.from({ length: 50 }, () => ({ targetNode: 'b', condition: 'trigger.ok' }));
  const nodes = [
    { id: 'a', actionType: 'core.echo', parameters, edges },
    { id: 'b', actionType: 'core.echo' },
  ];
  const definition = { id: 'w', displayName: 'W', startNode: 'a', nodes };
  let count = 0;
  const steps = compileInSteps(definition);
  let step = steps.next();
  for (; !step.done; step = steps.next()) count++;
  expect(count).toBeGreaterThan(250);
  expect(step.value).toEqual(compileDefinition(definition));
});
