// The action of the test workflows. It first tells the sink and then works, so that a crash in between leaves an effect without a
// result. Whether the action fails depends only on the number of the attempt: the same attempt run again ends the same way.

import { z } from 'zod';
import { defineAction } from '../../src/action/action.ts';
import { RetryableError, TerminalError } from '../../src/core/error/error.ts';

export interface Effect {
  readonly executionId: string;
  readonly nodeId: string;
  /** Null: the effect came from an HTTP task of a pipeline, which knows its key but not its attempt number. */
  readonly attempt: number | null;
  readonly key: string;
  /** The process that ran the attempt; null: an HTTP task of a pipeline does not tell. */
  readonly runner: string | null;
  /**
   * When the attempt began, by the clock that all processes share; null: not told. A paused process may send an effect much
   * later than it began.
   */
  readonly begunAt: number | null;
}

export const createEffectAction = (runner: string) =>
  defineAction({
    type: 'chaos.effect',
    version: '1.0.0',
    connector: 'chaos',
    category: 'Test',
    params: z.object({
      sink: z.string(),
      workMs: z.number(),
      value: z.number(),
      /** How many attempts fail before one succeeds. */
      failTimes: z.number().default(0),
      terminal: z.boolean().default(false),
    }),
    outputs: z.object({ value: z.number() }),
    async run({ sink, workMs, value, failTimes, terminal }, context) {
      const { executionId, nodeId, attempt, idempotencyKey, http, signal } = context;
      const effect: Effect = { executionId, nodeId, attempt, key: idempotencyKey, runner, begunAt: Date.now() };
      await http.request({ url: sink, method: 'POST', body: JSON.stringify(effect), headers: {} });
      await work(workMs, signal);
      if (attempt <= failTimes) {
        const message = `attempt ${attempt} was told to fail`;
        throw terminal ? new TerminalError('CHAOS', message) : new RetryableError('CHAOS', message);
      }
      return { outputs: { value } };
    },
  });

function work(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
