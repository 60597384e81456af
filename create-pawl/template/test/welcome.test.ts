import { testWorkflow } from 'pawl';
import { expect, it } from 'vitest';
import { greet } from '../actions/greet.ts';
import welcome from '../workflows/welcome.json' with { type: 'json' };

it('greets everybody by name', async () => {
  const { status, outputs } = await testWorkflow(welcome, { trigger: { name: 'Ada' }, actions: [greet] });
  expect({ status, outputs }).toEqual({ status: 'Succeeded', outputs: { text: 'Hello, Ada!' } });
});

it('fails when the call of a VIP is refused', async () => {
  const { status, error } = await testWorkflow(welcome, {
    trigger: { name: 'Grace', vip: true },
    actions: [greet],
    stubs: { 'http.request': { error: { code: 'HTTP_STATUS' }, retryable: false } },
  });
  expect({ status, nodeId: error?.nodeId }).toEqual({ status: 'Failed', nodeId: 'call' });
});
