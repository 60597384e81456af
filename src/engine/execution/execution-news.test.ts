import { describe, expect, it } from 'vitest';
import type { EndedExecution } from '../environment.ts';
import { handTimers } from '../hand-timers.testing.ts';
import { ExecutionNews, endOf } from './execution-news.ts';

const ended = (executionId: string, state: object | null = null) =>
  ({ execution: { executionId }, status: 'Succeeded', state }) as EndedExecution;

describe('news of an execution', () => {
  it('reach everybody who waits for it, and nobody else', async () => {
    const timers = handTimers();
    const news = new ExecutionNews(timers);
    const [first, second, other] = [news.next('a'), news.next('a'), news.next('b')];
    const end = ended('a');
    news.tell(end);
    expect(await Promise.all([first.promise, second.promise])).toEqual([end, end]);
    expect(timers.pending).toBe(1);
    other.cancel();
    expect(await other.promise).toBeNull();
    expect(timers.pending).toBe(0);
  });

  it('are a wish to look again when it does not end here', async () => {
    const timers = handTimers();
    const news = new ExecutionNews(timers).next('a');
    timers.advance(10_000);
    expect(await news.promise).toBeNull();
  });
});

describe('what an execution came to', () => {
  it('is what its outcome row says', () => {
    const failed = { code: 'NO', message: 'no' };
    expect(endOf(ended('a', { outputs: { x: [1] }, error: null }))).toEqual({
      status: 'Succeeded',
      outputs: '{"x":[1]}',
      error: null,
    });
    expect(endOf(ended('a', { outputs: undefined, error: failed }))).toMatchObject({
      outputs: null,
      error: JSON.stringify(failed),
    });
    expect(endOf(ended('a'))).toBeNull();
  });
});
