// Triggers and firings as the API shows them.

import type { z } from 'zod';
import type { eventAnswer, firingSchema, triggerSchema } from '../../protocol/trigger.ts';
import type { FiringRecord, TriggerRecord } from '../../store/trigger-port.ts';
import type { Fired } from '../../trigger/firing.ts';
import type { EventAnswer } from '../../trigger/intake.ts';
import { type LastFirings, nextFireTimes } from '../../trigger/triggers.ts';
import type { Answer } from '../route.ts';
import { isoTime } from './field.ts';

export interface TriggerContext {
  readonly webhookBase: string;
  readonly now: number;
  /** Made by this very request. */
  readonly secret?: string | null;
}

export function presentTrigger(
  trigger: TriggerRecord,
  { webhookBase, now, secret = null }: TriggerContext,
): z.input<typeof triggerSchema> {
  const { triggerId, workflowId, triggerType, isEnabled, activationCondition } = trigger;
  const fireTimes = nextFireTimes(trigger, now);
  const isWebhook = triggerType === 'Webhook';
  return {
    id: triggerId,
    workflowId,
    triggerType,
    isEnabled,
    config: JSON.parse(trigger.config) as Record<string, unknown>,
    ...(activationCondition === null ? {} : { activationCondition }),
    ...(fireTimes === undefined ? {} : { nextFireTimes: fireTimes.map((at) => isoTime(at)) }),
    ...(isWebhook ? { webhookUrl: webhookUrlOf(webhookBase, trigger), hasSecret: trigger.hasSecret } : {}),
    ...(secret === null ? {} : { secret }),
    createdAt: isoTime(trigger.createdAt),
    updatedAt: isoTime(trigger.updatedAt),
  };
}

/** A provider that verifies with a GET gets the address that understands it. */
function webhookUrlOf(webhookBase: string, { triggerId, config }: TriggerRecord): string {
  const { verifyToken } = JSON.parse(config) as { verifyToken?: string };
  return verifyToken === undefined
    ? `${webhookBase}/${triggerId}`
    : new URL(`/api/v1/webhooks/${triggerId}`, webhookBase).href;
}

export function presentFiring(firing: FiringRecord): z.input<typeof firingSchema> {
  const { requestId, slot, outcome, executionId, reason } = firing;
  return {
    firedAt: isoTime(firing.firedAt),
    requestId,
    ...(slot === null ? {} : { slot: isoTime(slot) }),
    outcome,
    ...(executionId === null ? {} : { executionId }),
    ...(reason === null ? {} : { reason }),
  };
}

export function presentLastFirings(last: LastFirings | undefined) {
  const views = Object.entries(last ?? {}).filter(([, firing]) => firing !== undefined);
  return Object.fromEntries(views.map(([name, firing]) => [name, presentFiring(firing as FiringRecord)]));
}

/** 202: started; 200: already started, or not started and why. Anything the sender can fix is an error. */
export function firedAnswer(fired: Fired): Answer {
  if (fired.outcome === 'started') {
    const { executionId, isNew } = fired;
    return { status: isNew ? 202 : 200, body: { executionId } };
  }
  if (fired.error !== undefined) throw fired.error;
  return { status: 200, body: { started: false, reason: fired.reason } };
}

export function presentEventAnswer({ eventId, fired }: EventAnswer): z.input<typeof eventAnswer> {
  return {
    eventId,
    executions: fired.map(({ triggerId, fired: one }) =>
      one.outcome === 'started'
        ? { triggerId, executionId: one.executionId, started: true }
        : { triggerId, started: false, reason: one.reason },
    ),
  };
}
