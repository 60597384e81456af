// Handles uncaught errors. An error left behind by an action is logged and the process goes on: its attempt has ended, or will by
// its timeout. Any other error is our bug: the process ends at once, and others take over its executions.

import { describeThrown } from '../action/failure.ts';
import { Redactor } from '../action/redact.ts';
import { type AttemptOrigin, currentAttempt } from '../engine/attempt/attempt-origin.ts';
import { EXIT } from './exit.ts';

/** Call before anything runs. `secrets`: values that actions may have received, to be redacted (S6). */
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
  // An action that exits the process takes everything with it. At least the log then names it.
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
