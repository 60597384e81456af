// The log of an attempt while it runs: followers see each line once, before the attempt ends.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAction } from '../../src/main.ts';
import { createClient } from '../../src/sdk/client.ts';
import { tokenFor, useServer } from './api-server.ts';

let talking = Promise.withResolvers<{ say(line: string): void; end(): void }>();

const talker = defineAction({
  type: 'test.talk',
  version: '1.0.0',
  connector: 'test',
  category: 'Test',
  params: z.object({}),
  outputs: z.unknown(),
  async run(_params, { log }) {
    const over = Promise.withResolvers<void>();
    talking.resolve({ say: (line) => log.info(line), end: () => over.resolve() });
    await over.promise;
    return { outputs: {} };
  },
});

const server = useServer({ actions: [talker] });

describe('the log of a running attempt', () => {
  it('followers see each log line of a running attempt once, before the attempt ends', async () => {
    talking = Promise.withResolvers();
    const nodes = [{ id: 'a', actionType: 'test.talk' }];
    await server.pawl.publish({ id: 'talks', displayName: 'Talks', startNode: 'a', nodes }, { tenantId: 'acme' });
    const { executionId } = await server.pawl.start('talks', { tenantId: 'acme', requestId: 'talk-1' });
    const client = createClient({ url: server.url, token: await tokenFor() });
    const { say, end } = await talking.promise;
    say('first');
    const told: string[] = [];
    for await (const { type, data } of client.executions.events(executionId)) {
      if (type !== 'Log') continue;
      told.push((data as { message: string }).message);
      // The attempt has not ended yet: the line came while it ran.
      if (told.length === 1) {
        const node = await client.executions.node(executionId, 'a');
        expect(node.attempts).toMatchObject([{ attempt: 1, status: 'Running', logs: [{ message: 'first' }] }]);
        const { body } = await server.get('/engine/runs/talk-1/steps/a/logs');
        expect(body).toMatchObject({ lines: [{ type: 'Log', nodeId: 'a', data: { message: 'first', attempt: 1 } }] });
        say('second');
      }
      if (told.length === 2) {
        say('third');
        end();
      }
    }
    expect(told).toEqual(['first', 'second', 'third']);
    const left = () => server.pawl.store.liveLineList({ executionId, nodeId: null });
    await expect.poll(left, { timeout: 10_000 }).toEqual([]);
  });
});
