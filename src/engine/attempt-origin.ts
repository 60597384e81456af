// Which attempt a piece of code belongs to, also when it runs after the attempt has answered: a timer that was not cleared, a
// promise that nobody waited for. An error from there is that action's, and must not end the process with all its neighbours.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { AttemptRequest, RunAttempt } from './environment.ts';

export type AttemptOrigin = Pick<AttemptRequest, 'executionId' | 'nodeId' | 'actionType' | 'attempt'>;

const origins = new AsyncLocalStorage<AttemptOrigin>();

export function withOrigin(run: RunAttempt): RunAttempt {
  return (request) => origins.run(request, run, request);
}

/** Undefined: what runs now was started by no action. */
export function currentAttempt(): AttemptOrigin | undefined {
  return origins.getStore();
}
