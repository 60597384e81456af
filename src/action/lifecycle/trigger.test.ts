import { describe, expect, it } from 'vitest';
import { PawlError } from '../../core/error/pawl-error.ts';
import { expectFailure, expectSuccess, runAction } from '../attempt.testing.ts';
import { lifecycleActions } from './lifecycle-actions.ts';
import type { TriggerLifecycle } from './trigger.ts';

const moved = { applied: true, instanceId: 'i-1', from: 'draft', to: 'submitted' };
const submit = { env: 'prod', definition: 'loan', externalRef: 'L-1', event: 'submit' };

function action(trigger: TriggerLifecycle) {
  const calls: Parameters<TriggerLifecycle>[] = [];
  const [definition] = lifecycleActions((...call) => {
    calls.push(call);
    return trigger(...call);
  });
  return { definition: definition!, calls };
}

describe('lifecycle.trigger', () => {
  it('lifecycle.trigger sends the event for the principal, with one key for all attempts of the node', async () => {
    const { definition, calls } = action(async () => moved);
    const { outputs } = expectSuccess(await runAction(definition, { ...submit, payload: { amount: 5 } }));
    expect(outputs).toEqual(moved);
    expect(calls).toEqual([
      [
        'tenant-1',
        {
          ...submit,
          payload: { amount: 5 },
          requestId: '0190a5c0-0000-7000-8000-000000000001:node-1',
          actor: 'U1',
        },
        { type: 'workflow', executionId: '0190a5c0-0000-7000-8000-000000000001', nodeId: 'node-1' },
      ],
    ]);
  });

  it('lifecycle.trigger succeeds when the event was applied before, and says so', async () => {
    const { definition } = action(async () => ({ ...moved, applied: false, notice: 'DuplicateRequest' }));
    const { outputs } = expectSuccess(await runAction(definition, { ...submit, event: 1001, actor: 'Ada' }));
    expect(outputs).toMatchObject({ applied: false, notice: 'DuplicateRequest' });
  });

  it('lifecycle.trigger fails for good when the state does not allow the event', async () => {
    const refusal = new PawlError('TRANSITION_REJECTED', '"approve" is not possible in "draft"');
    const { definition } = action(() => Promise.reject(refusal));
    const { error, retryable } = expectFailure(await runAction(definition, submit));
    expect(error).toEqual({ code: 'TRANSITION_REJECTED', message: '"approve" is not possible in "draft"' });
    expect(retryable).toBe(false);
  });

  it('lifecycle.trigger is retried after a temporary failure', async () => {
    const { definition } = action(() => Promise.reject(new Error('the connection broke')));
    expect(expectFailure(await runAction(definition, submit)).retryable).toBe(true);
  });
});
