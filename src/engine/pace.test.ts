import { expect, it } from 'vitest';
import { handTimers, settled } from '../clock/hand-timers.testing.ts';
import { Pace } from './pace.ts';

function setup() {
  const timers = handTimers();
  const pace = new Pace(timers);
  const done: string[] = [];
  const take = (name: string, ms: number) =>
    pace.run(() => {
      timers.advance(ms);
      done.push(name);
    });
  return { timers, pace, done, take };
}

it('short work runs at once', () => {
  const { pace, done, take } = setup();
  for (const name of ['a', 'b', 'c']) take(name, 1);
  expect(done).toEqual(['a', 'b', 'c']);
  expect(pace.hasTime()).toBe(true);
});

it('work that adds up yields to the event loop, and goes on in order', async () => {
  const { pace, done, take } = setup();
  for (const name of ['a', 'b', 'c', 'd', 'e']) take(name, 6);
  expect(done).toEqual(['a', 'b']);
  expect(pace.hasTime()).toBe(false);
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(done).toEqual(['a', 'b', 'c', 'd']);
  await settled();
  expect(done).toEqual(['a', 'b', 'c', 'd', 'e']);
});

it('nested work is counted once, as soon as it is done', () => {
  const { pace, done, take } = setup();
  pace.run(() => take('a', 6));
  expect(pace.hasTime()).toBe(true);
  pace.run(() => {
    for (const name of ['b', 'c', 'd']) take(name, 2);
  });
  expect(done).toEqual(['a', 'b', 'c']);
});
