// Bugs put in on purpose: a simulation that does not find them proves nothing.

import { InstanceTriggers, type TriggerOrder } from '../../../src/lifecycle/instance/instance-triggers.ts';
import type { DeliveryRecord } from '../database/messaging-tables.ts';
import type { Statements, Tables } from '../database/tables.ts';
import type { MessagingPlant } from './simulation.ts';

export const PLANTED_MESSAGING_BUGS: Readonly<Record<string, () => MessagingPlant>> = {
  'a message that is sent again has a new id': () => ({
    statements: (statements, { messaging }) => ({
      deliveryClaim(params) {
        const result = statements.deliveryClaim(params);
        const claimed = result.claimed.map((one) => {
          if (one.attempts < 2) return one;
          const ackGuid = one.ackGuid.replace(/^./, 'f');
          const message = messaging.messages.get(one.ackGuid)!;
          messaging.messages.set(ackGuid, { ...message, ackGuid });
          return { ...one, ackGuid, body: one.body.replace(one.ackGuid, ackGuid) };
        });
        return { ...result, claimed };
      },
    }),
  }),
  'a message that is sent again has other bytes': () => ({
    statements: (statements) => ({
      deliveryClaim(params) {
        const result = statements.deliveryClaim(params);
        const claimed = result.claimed.map((one) => ({
          ...one,
          body: one.body.replace(/}$/, `,"attempt":${one.attempts}}`),
        }));
        return { ...result, claimed };
      },
    }),
  }),
  'the acknowledgement of one consumer closes the deliveries of all': () => ({
    statements: (statements, { messaging }) => ({
      deliveryAck(params) {
        const result = statements.deliveryAck(params);
        for (const { ackGuid, stage, outcome } of params.acks) {
          if (stage === 'Delivered' || outcome === 'failed') continue;
          for (const row of messaging.deliveries.values()) if (row.ackGuid === ackGuid) close(row);
        }
        return result;
      },
    }),
  }),
  'a timeout that was taken is still due for others, and applies at any revision': () => ({
    statements: (statements, tables) => ({
      instanceClaimDue: (params) => statements.instanceClaimDue({ ...params, leaseMs: 0 }),
      lifecycleApply: (batch) => statements.lifecycleApply(withRevisionsOf(tables, batch)),
    }),
    patch: () => withNewRequestIds(),
  }),
  'a timeout fires before its time': () => ({
    statements: (statements, tables) => ({
      instanceClaimDue(params) {
        for (const row of tables.messaging.instances.values()) if (row.dueAt !== null) row.dueAt -= 100;
        return statements.instanceClaimDue(params);
      },
      monitorLook: (params) => ({ ...statements.monitorLook(params), nextTimeoutAt: 0 }),
    }),
  }),
  'a transition is written without its deliveries': () => ({
    statements: (statements) => ({
      lifecycleApply: (batch) =>
        statements.lifecycleApply({
          ...batch,
          deliveries: batch.moves.length > 1 ? batch.deliveries.slice(1) : batch.deliveries,
        }),
    }),
  }),
  'a transition is written with an old list of consumers': () => ({
    statements: (statements, { messaging }) => ({
      lifecycleApply: (batch) => statements.lifecycleApply({ ...batch, generation: String(messaging.generation) }),
    }),
  }),
  'two triggers apply to the same state': () => ({
    statements: (statements, tables) => ({
      lifecycleApply: (batch) => statements.lifecycleApply(withRevisionsOf(tables, batch)),
    }),
  }),
  'a repeated request is applied again': () => ({ patch: () => withNewRequestIds() }),
  'the next message does not wait for the one before': () => ({
    statements: (statements, { messaging }) => ({
      deliveryClaim(params) {
        const seqs = [...messaging.deliveries.values()].map((row) => [row, row.seq] as const);
        for (const [row] of seqs) Object.assign(row, { seq: 0 });
        const result = statements.deliveryClaim(params);
        for (const [row, seq] of seqs) Object.assign(row, { seq });
        return result;
      },
    }),
  }),
  'a processed message is reminded of': () => ({
    statements: (statements, tables) => ({
      deliveryAck(params) {
        const result = statements.deliveryAck(params);
        for (const { ackGuid, consumerId, stage } of params.acks) {
          const row = tables.messaging.deliveries.get(`${ackGuid} ${consumerId}`);
          if (row !== undefined && stage === 'Processed' && row.stage === 'Processed')
            row.nextAttemptAt = tables.clock() + 1_000;
        }
        return result;
      },
    }),
  }),
  'the outcome of a hook is settled although its event was not written': () => ({
    statements: (statements, { messaging }) => ({
      reactionClaim(params) {
        const claimed = statements.reactionClaim(params);
        for (const { reactionId } of claimed) messaging.reactions.delete(reactionId);
        return claimed;
      },
    }),
  }),
  'a hook is done when the first of its consumers is': () => ({
    statements: (statements, { messaging }) => ({
      deliveryAck(params) {
        for (const { ackGuid } of params.acks) {
          const message = messaging.messages.get(ackGuid);
          if (message !== undefined) message.openConsumers = Math.min(message.openConsumers, 1);
        }
        return statements.deliveryAck(params);
      },
    }),
  }),
  'a delivery that was claimed is never due again': () => ({
    statements: (statements) => ({
      deliveryClaim: (params) => statements.deliveryClaim({ ...params, resendMs: [3_600_000] }),
    }),
  }),
};

function close(row: DeliveryRecord): void {
  Object.assign(row, { stage: 'Processed', nextAttemptAt: null, endedAt: 0, outcome: 'succeeded' });
}

type Batch = Parameters<Statements['lifecycleApply']>[0];

/** As if nobody compared the revisions. */
function withRevisionsOf({ messaging }: Tables, batch: Batch): Batch {
  const moves = batch.moves.map((move) => ({
    ...move,
    revision: move.revision === 0 ? 0 : (messaging.instances.get(move.instanceId)?.revision ?? move.revision),
  }));
  return { ...batch, moves };
}

function withNewRequestIds(): () => void {
  const original = InstanceTriggers.prototype.apply;
  let count = 0;
  InstanceTriggers.prototype.apply = function apply(this: InstanceTriggers, order: TriggerOrder) {
    return original.call(this, { ...order, requestId: `${order.requestId}#${count++}` });
  };
  return () => {
    InstanceTriggers.prototype.apply = original;
  };
}
