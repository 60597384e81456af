// The payloads of signals. signal-role.ts says who may send them.

import { z } from 'zod';
import { SIGNAL_TYPES, type SignalType } from '../core/decider/signal-type.ts';
import { tenantId } from './identifier.ts';

const PAYLOADS = {
  PAUSE: z.object({ reason: z.string().optional() }).strict().default({}),
  RESUME: z.object({}).strict().default({}),
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

/** Fields of every signal. */
const common = { signalId: z.guid('must be a uuid'), tenantId: tenantId.optional() };

type Variant = {
  [Type in SignalType]: z.ZodObject<
    typeof common & { type: z.ZodLiteral<Type>; payload: (typeof PAYLOADS)[Type] },
    z.core.$strict
  >;
}[SignalType];

const variants = SIGNAL_TYPES.map((type) =>
  z.object({ ...common, type: z.literal(type), payload: PAYLOADS[type] }).strict(),
) as unknown as [Variant, ...Variant[]];

export const signalRequest = z.discriminatedUnion('type', variants).meta({ id: 'SignalRequest' });

export const signalAnswer = z.object({ executionId: z.string(), signalId: z.string(), repeated: z.boolean() });

/** The fields that the payload of this signal must have. */
export function requiredFields(type: SignalType): string[] {
  const { error } = PAYLOADS[type].safeParse({});
  return error?.issues.map(({ path }) => String(path[0])) ?? [];
}
