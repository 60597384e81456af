// Our own events as the cause of event triggers: an execution that ended may start another. The event's id is the ackGuid, so a
// repeated event fires nothing twice (S7). Each trigger records its own outcome.

import type { Json } from '../../core/json/json.ts';
import type { ClaimedDelivery } from '../../store/delivery-port.ts';
import { type Channel, PROCESSED, type Sent } from './channel.ts';

export type HandInEvent = (
  tenantId: string,
  event: { readonly id: string; readonly type: string; readonly data: Json },
) => Promise<unknown>;

export class TriggerChannel implements Channel {
  private readonly handIn: HandInEvent;

  constructor(handIn: HandInEvent) {
    this.handIn = handIn;
  }

  async send({ ackGuid, tenantId, event, body }: ClaimedDelivery): Promise<Sent> {
    await this.handIn(tenantId, { id: ackGuid, type: event, data: JSON.parse(body) as Json });
    return PROCESSED;
  }
}
