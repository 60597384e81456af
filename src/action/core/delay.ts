// core.delay: in the catalog, so that people find it and its parameters are checked. It never runs: the compiler turns the node
// into a durable timer that holds no slot.

import { z } from 'zod';
import { TerminalError } from '../../core/error/error.ts';
import { defineAction } from '../action.ts';

export const delay = defineAction({
  type: 'core.delay',
  version: '1.0.0',
  connector: 'core',
  category: 'Flow',
  displayName: 'Delay',
  description: 'Waits for the given time. A durable timer: it survives restarts and holds no slot.',
  params: z.object({ durationMs: z.int().min(0) }),
  outputs: z.object({ sleptMs: z.int().min(0) }),
  run() {
    throw new TerminalError('ACTION_FAILED', 'core.delay is a timer of the engine and cannot be run as an action');
  },
});
