// Exit codes of every command: scripts rely on them.

import type { ExecutionJson } from '../protocol/execution.ts';

export const EXIT = {
  ok: 0,
  /** The execution failed, or the file has problems. */
  failed: 1,
  /** Wrong usage, or input that cannot be read. */
  usage: 2,
  cancelled: 3,
  timedOut: 4,
} as const;

/** The exit code of a command that waited for an execution. `failedNodes`: only where they count. */
export function exitCodeOf(status: ExecutionJson['status'], failedNodes = 0): number {
  switch (status) {
    case 'Succeeded':
      return failedNodes === 0 ? EXIT.ok : EXIT.failed;
    case 'Cancelled':
      return EXIT.cancelled;
    case 'TimedOut':
      return EXIT.timedOut;
    default:
      return EXIT.failed;
  }
}

/** The command line is wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** One Ctrl-C may reach a process twice: directly, and through its parent. */
export const SAME_KEYSTROKE_MS = 500;
