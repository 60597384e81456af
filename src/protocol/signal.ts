// Signals: what each carries and which role may send it.

import { z } from 'zod';
import type { SignalType } from '../core/decider/fact.ts';
import { tenantId } from './identifier.ts';
import type { Role } from './scope.ts';

const payloads = {
  PAUSE: z.object({ reason: z.string().optional() }).strict(),
  RESUME: z.object({}).strict(),
  RETRY_STEP: z.object({ stepId: z.string().min(1), force: z.boolean().optional() }).strict(),
  RERUN_FROM: z.object({ stepId: z.string().min(1) }).strict(),
  COMPLETE_STEP: z
    .object({
      stepId: z.string().min(1),
      outputs: z.unknown().optional().describe('what the step would have returned; by default {}'),
    })
    .strict(),
  UPDATE_PARAMS: z
    .object({ stepId: z.string().min(1).optional(), newParams: z.record(z.string(), z.unknown()) })
    .strict(),
  INJECT_OVERRIDE: z.object({ stepId: z.string().min(1), override: z.record(z.string(), z.unknown()) }).strict(),
  ESCALATE_ALERT: z.object({ level: z.enum(['LOW', 'MEDIUM', 'HIGH']), note: z.string().optional() }).strict(),
} satisfies Record<SignalType, z.ZodType>;

/** The same of every type. */
const common = { signalId: z.guid('must be a uuid'), tenantId: tenantId.optional() };

const variant = <Type extends SignalType, Payload extends z.ZodType>(type: Type, payload: Payload) =>
  z.object({ ...common, type: z.literal(type), payload }).strict();

export const signalRequest = z
  .discriminatedUnion('type', [
    variant('PAUSE', payloads.PAUSE.default({})),
    variant('RESUME', payloads.RESUME.default({})),
    variant('RETRY_STEP', payloads.RETRY_STEP),
    variant('RERUN_FROM', payloads.RERUN_FROM),
    variant('COMPLETE_STEP', payloads.COMPLETE_STEP),
    variant('UPDATE_PARAMS', payloads.UPDATE_PARAMS),
    variant('INJECT_OVERRIDE', payloads.INJECT_OVERRIDE),
    variant('ESCALATE_ALERT', payloads.ESCALATE_ALERT),
  ])
  .meta({ id: 'SignalRequest' });

export const signalAnswer = z.object({ executionId: z.string(), signalId: z.string(), repeated: z.boolean() });

/** Operator ⊂ Engineer ⊂ Admin; an alert is for the system itself, and for Admins. */
const ALLOWED: Record<SignalType, readonly Role[]> = {
  PAUSE: ['Operator', 'Engineer', 'Admin'],
  RESUME: ['Operator', 'Engineer', 'Admin'],
  RETRY_STEP: ['Engineer', 'Admin'],
  RERUN_FROM: ['Engineer', 'Admin'],
  COMPLETE_STEP: ['Admin'],
  UPDATE_PARAMS: ['Admin'],
  INJECT_OVERRIDE: ['Admin'],
  ESCALATE_ALERT: ['System', 'Admin'],
};

export const rolesFor = (type: SignalType): readonly Role[] => ALLOWED[type];
