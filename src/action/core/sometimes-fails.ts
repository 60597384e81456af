// core.sometimes-fails: fails on its first attempts and then succeeds, for trying a retry policy. It counts by the attempt's
// number, so it behaves the same in every process and after a crash.

import { z } from 'zod';
import { RetryableError } from '../../core/error/error.ts';
import { defineAction } from '../action.ts';

export const sometimesFails = defineAction({
  type: 'core.sometimes-fails',
  version: '1.0.0',
  connector: 'core',
  codes: ['ACTION_FAILED'],
  category: 'Flow',
  displayName: 'Sometimes fails',
  description: 'Fails, retryably, on each attempt up to failTimes; then returns its other parameters.',
  params: z.looseObject({ failTimes: z.int().min(0).default(1) }),
  outputs: z.looseObject({}),
  run({ failTimes, ...others }, { attempt }) {
    if (attempt <= failTimes) {
      throw new RetryableError('ACTION_FAILED', `Attempt ${attempt} fails; failTimes is ${failTimes}`);
    }
    return { outputs: others };
  },
});
