// An attempt that needs our own rows while the database is away.

import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineAction } from '../../action/action.ts';
import type { AttemptRequest } from '../../action/attempt.ts';
import { createRegistry } from '../../action/registry.ts';
import { StoreError, type StoreFailure } from '../../store/store-error.ts';
import { type ActionAttemptDeps, createActionAttempts } from './action-attempt.ts';
import { DisabledActions } from './disabled-actions.ts';

const greet = defineAction({
  type: 'demo.greet',
  version: '1.0.0',
  connector: 'demo',
  category: 'Demo',
  params: z.object({}),
  outputs: z.object({ text: z.string() }),
  run: () => ({ outputs: { text: 'hello' } }),
});

function attemptWith(failures: StoreFailure[], aborting = new AbortController()) {
  const left = [...failures];
  const deps = {
    registry: createRegistry([greet]),
    credential: async () => {
      const failure = left.shift();
      if (failure !== undefined) throw new StoreError(failure, 'connecting: the server is gone');
      return null;
    },
    environmentToken: () => undefined,
    artifacts: { isThere: false },
    store: { actionsNoticed: async () => [] },
    wallClockMs: () => 0,
    outputLimitBytes: 1_000,
    abortGraceMs: 0,
    disabled: new DisabledActions({ actionsNoticed: async () => [] }, { monotonicMs: () => 0 }),
    timers: { after: (_ms: number, callback: () => void) => clearImmediate.bind(null, setImmediate(callback)) },
  } as unknown as ActionAttemptDeps;
  const request = {
    actionType: 'demo.greet',
    tenantId: 'default',
    environmentId: 'default',
    principal: { userId: 'ada' },
    params: {},
    timeoutMs: null,
    signal: aborting.signal,
  } as unknown as AttemptRequest;
  return { run: () => createActionAttempts(deps)(request), left };
}

it('an attempt waits for its credential while the database is away', async () => {
  const { run } = attemptWith(['retry', 'unknown', 'retry']);
  expect(await run()).toMatchObject({ ok: true, outputsText: '{"text":"hello"}' });
});

it('an aborted attempt does not wait for the database', async () => {
  const aborting = new AbortController();
  aborting.abort();
  const { run, left } = attemptWith(['retry', 'retry'], aborting);
  expect(await run()).toMatchObject({ ok: false });
  expect(left).toHaveLength(1);
});

it('a permanent failure of the store fails the attempt', async () => {
  const { run } = attemptWith(['fatal']);
  expect(await run()).toMatchObject({ ok: false, error: { code: 'ACTION_FAILED' } });
});
