// core.fail: fails on purpose, e.g. at the end of a branch that must not be reached.

import { z } from 'zod';
import { RetryableError, TerminalError } from '../../core/error/error.ts';
import { defineAction } from '../action.ts';

export const fail = defineAction({
  type: 'core.fail',
  version: '1.0.0',
  connector: 'core',
  category: 'Flow',
  displayName: 'Fail',
  description: 'Fails with the given message and code; with retryable, as the retry policy allows.',
  params: z.object({
    message: z.string().default('The workflow asked to fail'),
    code: z.string().min(1).max(100).default('ACTION_FAILED'),
    retryable: z.boolean().default(false),
  }),
  outputs: z.object({}),
  run({ message, code, retryable }) {
    throw retryable ? new RetryableError(code, message) : new TerminalError(code, message);
  },
});
