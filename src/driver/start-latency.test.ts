import { expect, test } from 'vitest';
import { createStartLatency } from './start-latency.ts';

function setup() {
  let now = 0;
  const latency = createStartLatency(() => now);
  return {
    latency,
    took: (...all: number[]) => {
      for (const ms of all) latency.took(ms);
    },
    later: (ms: number) => {
      now += ms;
    },
  };
}

test('a start is refused when starts take more than five seconds, with a growing wait', () => {
  const { latency, took } = setup();
  took(6_000, 6_000, 6_000, 6_000);
  expect(latency.refusal()).toBeNull();
  took(6_000);
  expect(latency.p95Ms()).toBe(6_000);
  expect(Array.from({ length: 7 }, () => latency.refusal()!.retryAfterS)).toEqual([2, 4, 8, 16, 32, 60, 60]);
});

test('one slow start among fast ones causes no refusal', () => {
  const { latency, took } = setup();
  took(10, 20, 9_000, 30, 40);
  expect(latency.refusal()).toBeNull();
});

test('slow starts are forgotten after half a minute, and the wait starts again', () => {
  const { latency, took, later } = setup();
  took(6_000, 6_000, 6_000, 6_000, 6_000);
  latency.refusal();
  later(30_000);
  expect(latency.refusal()).toBeNull();
  took(6_000, 6_000, 6_000, 6_000, 6_000);
  expect(latency.refusal()).toEqual({ reason: 'slow', retryAfterS: 2 });
});

test('two failures in a row mean that the engine is down, until it answers', () => {
  const { latency } = setup();
  latency.failed();
  expect(latency.refusal()).toBeNull();
  latency.failed();
  expect(latency.refusal()).toMatchObject({ reason: 'down' });
  latency.answered();
  expect(latency.refusal()).toBeNull();
});
