// Finds the attempt that a piece of code belongs to, also after the attempt has answered: a timer that was not cleared, a promise
// that nobody awaited. An error from there is that action's, and must not end the process with all its neighbours.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { AttemptRequest, RunAttempt } from '../../action/attempt.ts';

export type AttemptOrigin = Pick<AttemptRequest, 'executionId' | 'nodeId' | 'actionType' | 'attempt'>;

const origins = new AsyncLocalStorage<AttemptOrigin>();

/** `leavesNothing`: actions that leave nothing behind, so they need not pay for tracking. */
export function withOrigin(run: RunAttempt, leavesNothing: ReadonlySet<string>): RunAttempt {
  return (request) => (leavesNothing.has(request.actionType) ? run(request) : origins.run(request, run, request));
}

/** undefined: no action started the current code. */
export function currentAttempt(): AttemptOrigin | undefined {
  return origins.getStore();
}
