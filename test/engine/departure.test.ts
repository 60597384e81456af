// A runner is told to stop while it has work. Executions without a running attempt go to another runner at once, and a slow
// attempt keeps only its own execution (I23).

import { expect, it } from 'vitest';
import { engineUnderTest, eventually } from './engine-under-test.ts';
import { delay, echo, graph, held, to, tries } from './workflow-definition.ts';

// The engine of this file only accepts requests; the tests start and stop the runners.
const engine = engineUnderTest({ runner: false });
const { work } = engine;
/** This runner keeps executions in memory that others would park, and waits long for its attempts. */
const patient = { engine: { name: 'leaving', parkAfterMs: 60_000, drainMs: 60_000 } };

it('executions between two steps move to another runner while a slow attempt of the stopping runner goes on', async () => {
  const leaving = await engine.open(patient);
  const slow = await engine.start(graph('slow', [held('long')]));
  const attempt = await work.next('long');
  const napping = await engine.start(graph('napping', [delay('nap', 1_000, to('after')), echo('after')]));
  const retrying = await engine.start(graph('retrying', [held('flaky', tries(2, {}))]));
  (await work.next('flaky')).fail(new Error('once'));
  await eventually(() => engine.nodes(napping)).toMatchObject({ nap: 'Sleeping' });
  const stopped = leaving.close();
  await engine.open({ engine: { name: 'heir' } });
  (await work.next('flaky')).succeed();
  expect(await engine.pawl.result(napping)).toMatchObject({ status: 'Succeeded' });
  expect(await engine.pawl.result(retrying)).toMatchObject({ status: 'Succeeded' });
  expect(await engine.nodes(slow)).toEqual({ long: 'Running' });
  attempt.succeed();
  await stopped;
  expect(await engine.pawl.result(slow)).toMatchObject({ status: 'Succeeded' });
  expect(await engine.attempts(slow)).toHaveLength(1);
});

it('a stopping runner gives an execution back as soon as its own attempt has ended', async () => {
  const leaving = await engine.open(patient);
  const slow = await engine.start(graph('slowest', [held('long')]));
  const [first] = [await work.next('long')];
  const two = await engine.start(graph('two-steps', [held('one', to('two')), echo('two')]));
  const one = await work.next('one');
  const stopped = leaving.close();
  await engine.open({ engine: { name: 'heir' } });
  one.succeed();
  expect(await engine.pawl.result(two)).toMatchObject({ status: 'Succeeded' });
  expect(await engine.nodes(slow)).toEqual({ long: 'Running' });
  first!.succeed();
  await stopped;
});

it('another runner learns by notification, without polling, what a stopping runner gives back', async () => {
  const never = 600_000;
  const leaving = await engine.open(patient);
  const napping = await engine.start(graph('handed-over', [delay('nap', 1_000, to('after')), echo('after')]));
  await eventually(() => engine.nodes(napping)).toMatchObject({ nap: 'Sleeping' });
  await engine.open({ engine: { name: 'heir', parkAfterMs: 60_000, pollMs: never, inboxPollMs: never } });
  await leaving.close();
  expect(await engine.pawl.result(napping)).toMatchObject({ status: 'Succeeded' });
});
