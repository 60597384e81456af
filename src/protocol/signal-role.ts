// Which roles may send a signal. Without zod, so that the dashboard reads the same table as the server.

import type { SignalType } from '../core/decider/signal-type.ts';
import type { Role } from './scope.ts';

/** Operator ⊂ Engineer ⊂ Admin. Alerts are for the system itself and for Admins. */
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
