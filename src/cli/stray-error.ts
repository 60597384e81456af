// An error that nobody catches. Left behind by an action, it is said and the process goes on: its attempt has ended long ago,
// or will by its timeout. Anything else is a bug of ours: the process ends at once, and others take over what it had.

import { describeThrown } from '../action/failure.ts';
import { Redactor } from '../action/redact.ts';
import { type AttemptOrigin, currentAttempt } from '../engine/attempt/attempt-origin.ts';
import { EXIT } from './exit.ts';

/** Before anything runs. `secrets` are those that actions may have been handed (S6). */
export function surviveStrayErrors(secrets: Iterable<string | undefined>): void {
  const redactor = new Redactor();
  for (const secret of secrets) redactor.add(secret ?? '');
  process.on('uncaughtException', (error: unknown) => {
    const attempt = currentAttempt();
    if (attempt !== undefined)
      return console.error(describe(attempt, describeThrown(error, redactor, 0).error.message));
    console.error(error);
    process.exit(EXIT.failed);
  });
  // An action that ends the process takes everything with it; then at least it is known which one.
  process.on('exit', (code) => {
    const attempt = currentAttempt();
    if (attempt !== undefined)
      console.error(`pawl: ${attempt.actionType} called process.exit(${code}), which ends Pawl (${place(attempt)})`);
  });
}

function describe(attempt: AttemptOrigin, message: string): string {
  return `pawl: ${attempt.actionType} left behind an error that it did not handle (${place(attempt)}): ${message}`;
}

const place = ({ nodeId, executionId, attempt }: AttemptOrigin): string =>
  `attempt ${attempt} of node "${nodeId}" of execution ${executionId}`;
