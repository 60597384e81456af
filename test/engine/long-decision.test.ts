// Work that would block the event loop, or fill the memory, is spread out (S4): an execution goes on piece by piece.

import { expect, it } from 'vitest';
import { engineUnderTest, eventually } from './engine-under-test.ts';
import { echo, graph, held } from './workflow-definition.ts';

const COSTLY = "'a'.repeat(1000).split('').some((a, i, all) => all.every(() => all.sort().length > 0 && false))";

const engine = engineUnderTest();
const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);

it('costly conditions are evaluated over several transitions, with the same outcome', async () => {
  const edges = [...names(12).map((targetNode) => ({ targetNode, condition: COSTLY })), { targetNode: 'last' }];
  const nodes = [echo('first', {}, { edges }), ...names(12).map((id) => echo(id)), echo('last', { came: true })];
  const result = await engine.run(graph('costly', nodes));
  expect(result).toMatchObject({ status: 'Succeeded', outputs: { came: true } });
  const facts = await engine.facts(result.executionId);
  expect(facts.filter(({ type }) => type === 'EdgesResolved').length).toBeGreaterThan(3);
  expect(await engine.nodes(result.executionId)).toMatchObject({ n0: 'Skipped', n11: 'Skipped', last: 'Succeeded' });
});

it('attempts with large parameters wait until earlier attempts have ended', async () => {
  const edges = names(9).map((targetNode) => ({ targetNode }));
  const large = { text: "{{ 'x'.repeat(4000000) }}" };
  const id = await engine.start(
    graph('large', [echo('first', {}, { edges }), ...names(9).map((name) => held(name, { parameters: large }))]),
  );
  await eventually(() => engine.work.begun.length).toBe(5);
  const waiting = await engine.nodes(id);
  expect(Object.values(waiting).filter((status) => status === 'Pending')).toHaveLength(4);
  for (let count = 0; count < 9; count++) (await engine.work.next()).succeed();
  expect(await engine.pawl.result(id)).toMatchObject({ status: 'Succeeded' });
});
