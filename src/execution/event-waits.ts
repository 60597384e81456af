// Delivers events, from outside and our own, to waiting executions: each finds its waits by (tenant, type, key) and goes into
// their mailboxes. The mailbox knows the event by its id, so a repetition is the same message (I10).

import { eventKeys } from '../core/decider/waiting.ts';
import type { Json } from '../core/json/json.ts';
import type { Mail } from '../engine/turn/mail.ts';
import type { EventWaitStore } from '../store/event-wait-port.ts';

export interface EventWaitsDeps {
  readonly store: EventWaitStore;
  readonly send: (tenantId: string, executionId: string, mail: Mail) => Promise<{ readonly live: boolean }>;
}

const PAGE = 256;

export class EventWaits {
  private readonly deps: EventWaitsDeps;

  constructor(deps: EventWaitsDeps) {
    this.deps = deps;
  }

  /** Returns how many executions waited for it. */
  async tell(tenantId: string, { id, type, data }: { id: string; type: string; data: Json }): Promise<number> {
    const { store, send } = this.deps;
    const keys = eventKeys(data);
    let told = 0;
    for (let after: { executionId: string; nodeId: string } | null = null; ; ) {
      const page = await store.eventWaitMatch({ tenantId, eventType: type, keys, after, limit: PAGE });
      // A page at a time: one event may have thousands of waits, and mail sent together is written together.
      const sent = await Promise.all(
        page.map(({ executionId, nodeId }) =>
          send(tenantId, executionId, { kind: 'event', nodeId, eventId: id, eventType: type, data }),
        ),
      );
      const over = page.flatMap(({ executionId }, index) => (sent[index]!.live ? [] : [executionId]));
      told += page.length - over.length;
      if (over.length > 0) await store.eventWaitDrop({ executionIds: over });
      if (page.length < PAGE) return told;
      after = page.at(-1)!;
    }
  }
}
