// The request id and payload of a schedule's slot. The id belongs to the slot, so everybody who fires it finds the same execution
// (I9).

import type { Json } from '../core/json/json.ts';
import type { TriggerRecord } from '../store/trigger-port.ts';
import type { FiringRequest } from './firing.ts';
import { payloadOf } from './trigger-config.ts';

export const slotId = ({ triggerId }: Pick<TriggerRecord, 'triggerId'>, slot: number): string =>
  `schedule:${triggerId}:${new Date(slot).toISOString()}`;

export const slotRequestOf = (trigger: TriggerRecord, slot: number): FiringRequest & { readonly slot: number } => ({
  requestId: slotId(trigger, slot),
  slot,
  body: { ...payloadOf(JSON.parse(trigger.config) as Json), scheduledFor: new Date(slot).toISOString() },
});
