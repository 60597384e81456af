import { expect, it, test } from 'vitest';
import { handTimers, settled } from '../../clock/hand-timers.testing.ts';
import { ConductorClient } from './conductor-client.ts';
import { ConductorWorkers } from './conductor-workers.ts';
import { BUSY_POLL_MS, idlePollMs, MOST_IDLE_POLLS_PER_S, nextPollMs } from './poll-pace.ts';

test.each([
  { turn: 1, step: 3 },
  { turn: 1, step: 0 },
  { turn: 0, step: 1 },
  { turn: 0, step: 7 },
  { turn: 3, step: 51 },
])('idle loops %o share five requests a second', (loops) => {
  const perSecond = (kind: 'turn' | 'step') => (loops[kind] * 1_000) / idlePollMs(kind, loops);
  const [turns, steps] = [perSecond('turn'), perSecond('step')];
  expect(turns + steps).toBeLessThanOrEqual(MOST_IDLE_POLLS_PER_S);
  expect(turns + steps).toBeGreaterThan(MOST_IDLE_POLLS_PER_S * 0.99);
});

test('a loop that finds tasks polls again at once, and one that finds none slows down to the idle pace', () => {
  const loops = { turn: 1, step: 3 };
  expect(nextPollMs(250, 1, 'turn', loops)).toBe(BUSY_POLL_MS);
  let pauseMs = BUSY_POLL_MS;
  for (let polls = 0; polls < 20; polls++) pauseMs = nextPollMs(pauseMs, 0, 'turn', loops);
  expect(pauseMs).toBe(idlePollMs('turn', loops));
});

it('idle workers of one process poll two servers and three environments five times a second', async () => {
  const timers = handTimers();
  const askedAt: number[] = [];
  const loops = { turn: 0, step: 0 };
  const server = async () => {
    askedAt.push(timers.monotonicMs());
    return new Response('[]');
  };
  const workers = ['http://a', 'http://b'].map(
    (url) =>
      new ConductorWorkers({
        client: new ConductorClient(url, server as typeof fetch),
        turns: { advance: never, runAttempt: never, lookAt: never },
        ownerOf: never,
        statusOf: never,
        loops,
        timers,
        wallClockMs: () => 0,
        environments: async () => ['stage', 'prod'],
        taskQueues: [],
        maxParallelActions: 10,
        warn: never,
      }),
  );
  for (const each of workers) await each.start();
  const pass = async (seconds: number) => {
    for (let ms = 0; ms < seconds * 1_000; ms += 100) {
      timers.advance(100);
      await settled();
    }
  };
  await pass(60);
  expect(loops).toEqual({ turn: 2, step: 14 });
  askedAt.length = 0;
  await pass(60);
  expect(askedAt.length).toBeLessThanOrEqual(60 * MOST_IDLE_POLLS_PER_S);
  expect(askedAt.length).toBeGreaterThan(60);
  const stopped = Promise.all(workers.map((each) => each.stop()));
  timers.advance(60_000);
  await stopped;
});

function never(): never {
  throw new Error('nobody asks for this');
}
