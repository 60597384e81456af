// Which attempt a piece of code belongs to, also when it runs after the attempt has answered: a timer that was not cleared, a
// promise that nobody waited for. An error from there is that action's, and must not end the process with all its neighbours.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { AttemptRequest, RunAttempt } from '../../action/attempt.ts';

export type AttemptOrigin = Pick<AttemptRequest, 'executionId' | 'nodeId' | 'actionType' | 'attempt'>;

const origins = new AsyncLocalStorage<AttemptOrigin>();

/** `leavesNothing`: actions that are known to be over when they answer, which need not pay for it. */
export function withOrigin(run: RunAttempt, leavesNothing: ReadonlySet<string>): RunAttempt {
  return (request) => (leavesNothing.has(request.actionType) ? run(request) : origins.run(request, run, request));
}

/** Undefined: what runs now was started by no action. */
export function currentAttempt(): AttemptOrigin | undefined {
  return origins.getStore();
}
