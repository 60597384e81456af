// Pawl inside your own program: an action of yours, a workflow that uses it, one execution from start to result.
//
//   npx node examples/embed/embed.ts
//
// Without DATABASE_URL it starts a PostgreSQL of its own in .pawl-example, so there is nothing to install first, and a
// `npm start` in another terminal, which has its own in .pawl, is not in the way.

import { z } from 'zod';
import { createPawl, defineAction, RetryableError, TerminalError } from '../../src/main.ts';

// An action is data and one function. Its parameters are checked before it runs; what it returns is stored.
const reserve = defineAction({
  type: 'warehouse.reserve',
  version: '1.0.0',
  connector: 'warehouse',
  category: 'Orders',
  params: z.object({ item: z.string(), quantity: z.number().int().positive() }),
  outputs: z.object({ reservation: z.string() }),
  async run({ item, quantity }, { attempt, idempotencyKey, log }) {
    if (quantity > 100) throw new TerminalError('OUT_OF_STOCK', `there are not ${quantity} of ${item}`);
    // The first call fails, as networks do. The engine tries again, after a crash too, always with the same key:
    // hand it to the service you call, and a repeat does no harm.
    if (attempt === 1) throw new RetryableError('WAREHOUSE_BUSY', 'the warehouse did not answer');
    log.info('reserved', { item, quantity, idempotencyKey });
    return { outputs: { reservation: `${item}-${quantity}` } };
  },
});

const order = {
  id: 'order',
  displayName: 'Reserve and confirm an order',
  startNode: 'reserve',
  nodes: [
    {
      id: 'reserve',
      actionType: 'warehouse.reserve',
      parameters: { item: '{{ trigger.item }}', quantity: '{{ trigger.quantity }}' },
      policies: { retry: { maxAttempts: 3, baseDelayMs: 50 } },
      onFailure: 'apologise',
      edges: [{ targetNode: 'confirm' }],
    },
    {
      id: 'confirm',
      actionType: 'core.echo',
      parameters: { message: 'Reserved as {{ context.data.reserve.reservation }}' },
    },
    {
      id: 'apologise',
      actionType: 'core.echo',
      parameters: { message: 'Sorry: {{ context.data.reserve.error.message }}' },
    },
  ],
};

const pawl = await createPawl({ database: { dataDir: '.pawl-example' }, actions: [reserve] });
try {
  await pawl.publish(order);

  // The requestId makes starting safe to repeat: the same request is the same execution.
  const requestId = `order-${Date.now()}`;
  const { executionId } = await pawl.start('order', { trigger: { item: 'lamp', quantity: 2 }, requestId });
  const repeated = await pawl.start('order', { trigger: { item: 'lamp', quantity: 2 }, requestId });
  console.log('the same execution:', repeated.executionId === executionId);

  const { status, outputs } = await pawl.result(executionId);
  console.log(status, outputs);

  const refused = await pawl.start('order', { trigger: { item: 'lamp', quantity: 500 } });
  console.log((await pawl.result(refused.executionId)).outputs);
} finally {
  // Lets what runs finish, and gives the rest back to whoever runs next.
  await pawl.close();
}
