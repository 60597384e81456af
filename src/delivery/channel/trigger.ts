// Our own events as the cause of event triggers: an execution that ended may start another. The event's id is the ackGuid, so
// that an event which is handed in again fires nothing twice (S7). What a single trigger makes of it is on record there.

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
