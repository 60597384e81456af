import { describe, expect, it } from 'vitest';
import { INFERRED_QUEUES, isolationQueue, isQueueAmong, taskQueueOf } from './task-queue.ts';

const step = (actionType: string) => ({ kind: 'action', actionType }) as const;

describe('the task queue of a node', () => {
  it('the task queue of a node is the one that its plan names', () => {
    expect(taskQueueOf({ dispatch: { taskQueue: 'gpu' }, step: step('DBT_RUN') }, 'prod')).toBe('gpu');
  });

  it('a node without a queue gets the data queue for dbt and the control queue for anything else', () => {
    expect(taskQueueOf({ dispatch: null, step: step('DBT_RUN') }, 'prod')).toBe('tq-data-prod');
    expect(taskQueueOf({ dispatch: { runtime: 'node' }, step: step('HTTP_NOTIFY') }, 'dev')).toBe('tq-control-dev');
  });

  it('a queue matches a list by its name or by a prefix with *', () => {
    expect(isQueueAmong(INFERRED_QUEUES, 'tq-data-prod')).toBe(true);
    expect(isQueueAmong(['gpu', 'tq-data-prod'], 'gpu')).toBe(true);
    expect(isQueueAmong(['gp', 'tq-control-*'], 'gpu')).toBe(false);
    expect(isQueueAmong(['*'], isolationQueue('acme', 'prod'))).toBe(true);
    expect(isolationQueue('acme', 'prod')).toBe('tq-isolation-acme-prod');
  });
});
