// The contract of the storage port, tested through the port alone: it runs unchanged on PostgreSQL and on the simulated store.
// After each test the audit must find nothing (I12).

import { afterEach, beforeEach, describe, expect } from 'vitest';
import { describeAck } from './contract/ack.testing.ts';
import { describeClaim } from './contract/claim.testing.ts';
import { describeCommit } from './contract/commit.testing.ts';
import { describeConsumer, describeNotice } from './contract/consumer.testing.ts';
import { describeDeadLetter } from './contract/dead-letter.testing.ts';
import { describeDelivery } from './contract/delivery.testing.ts';
import { describeEventWait } from './contract/event-wait.testing.ts';
import { describeExternal } from './contract/external.testing.ts';
import { describeFence } from './contract/fence.testing.ts';
import { describeInbox } from './contract/inbox.testing.ts';
import { describeInstance } from './contract/instance.testing.ts';
import { describeLifecycle } from './contract/lifecycle.testing.ts';
import { describeLoad } from './contract/load.testing.ts';
import { describeOutbox } from './contract/outbox.testing.ts';
import { describePark } from './contract/park.testing.ts';
import { describeReader } from './contract/reader.testing.ts';
import { describeRetention } from './contract/retention.testing.ts';
import { describeRunner } from './contract/runner.testing.ts';
import { describeStart } from './contract/start.testing.ts';
import { describeWorkflow } from './contract/workflow.testing.ts';
import type { Store } from './port.ts';

/** `makeStore` gives a store with nothing in it; the suite closes it. */
export function storeContract(name: string, makeStore: () => Promise<Store>): void {
  describe(`store contract: ${name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await makeStore();
    });
    afterEach(async () => {
      expect(await store.queueAudit()).toEqual([]);
      await store.close();
    });

    const current = () => store;
    describe('runner', () => describeRunner(current));
    describe('fence', () => describeFence(current));
    describe('start', () => describeStart(current));
    describe('claim', () => describeClaim(current));
    describe('load', () => describeLoad(current));
    describe('commit', () => describeCommit(current));
    describe('park', () => describePark(current));
    describe('inbox', () => describeInbox(current));
    describe('event waits', () => describeEventWait(current));
    describe('reader', () => describeReader(current));
    describe('workflow', () => describeWorkflow(current));
    describe('dead letter', () => describeDeadLetter(current));
    describe('retention', () => describeRetention(current));
    describe('lifecycle', () => describeLifecycle(current));
    describe('instance', () => describeInstance(current));
    describe('consumer', () => describeConsumer(current));
    describe('delivery', () => describeDelivery(current));
    describe('acknowledgement', () => describeAck(current));
    describe('outbox', () => describeOutbox(current));
    describe('external', () => describeExternal(current));
    describe('notice', () => describeNotice(current));
  });
}
