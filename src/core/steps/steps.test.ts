import { expect, it } from 'vitest';
import { compileDefinition, compileInSteps } from '../definition/compile.ts';
import { allAtOnce, type Steps } from './steps.ts';

it('gives what the last step returns', () => {
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

it('S4: compiling stops at least once for every expression', () => {
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
