// Which roles may send a signal: the same as the server's table (src/protocol/signal.ts), which a test compares. Only types of
// the protocol are imported here, as its schemas would not pass the content security policy.

import type { SignalType } from '../../../src/core/decider/fact.ts';
import type { Role } from '../../../src/protocol/scope.ts';

export const SIGNAL_ROLES: Readonly<Record<SignalType, readonly Role[]>> = {
  PAUSE: ['Operator', 'Engineer', 'Admin'],
  RESUME: ['Operator', 'Engineer', 'Admin'],
  RETRY_STEP: ['Engineer', 'Admin'],
  RERUN_FROM: ['Engineer', 'Admin'],
  COMPLETE_STEP: ['Admin'],
  UPDATE_PARAMS: ['Admin'],
  INJECT_OVERRIDE: ['Admin'],
  ESCALATE_ALERT: ['System', 'Admin'],
};
