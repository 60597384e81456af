// Builders for tests of actions: a context with sensible values, and one call that runs an action in it.

import { z } from 'zod';
import type { Json } from '../core/json/json.ts';
import { type ActionContext, type ActionDefinition, defineAction } from './action.ts';
import type { AttemptContext } from './attempt-scope.ts';
import {
  type AttemptFailure,
  type AttemptResult,
  type AttemptSuccess,
  type InvokeRequest,
  invokeAction,
} from './invoke.ts';
import { createRegistry } from './registry.ts';

export function attemptContext(overrides: Partial<AttemptContext> = {}): AttemptContext {
  return {
    executionId: '0190a5c0-0000-7000-8000-000000000001',
    nodeId: 'node-1',
    attempt: 1,
    mayHaveRun: (overrides.attempt ?? 1) > 1,
    idempotencyKey: '0190a5c0-0000-7000-8000-000000000001:node-1',
    principal: { userId: 'U1', displayName: 'Ada', email: 'ada@example.com' },
    correlationId: 'correlation-1',
    tenantId: 'tenant-1',
    traceparent: null,
    credentials: { token: () => undefined },
    credential: null,
    http: { request: () => Promise.reject(new Error('this test has no HTTP client')) },
    findResource: () => Promise.resolve(null),
    artifacts: {
      put: () => Promise.reject(new Error('this test has no artifact store')),
      open: () => Promise.reject(new Error('this test has no artifact store')),
    },
    now: () => 1_700_000_000_000,
    ...overrides,
  };
}

/** An action that does just this. */
export function actionThat(run: (context: ActionContext) => unknown) {
  return defineAction({
    type: 'test.run',
    version: '1.0.0',
    connector: 'test',
    category: 'Test',
    params: z.looseObject({}),
    outputs: z.unknown(),
    run: (_params, context) => run(context) as { outputs: unknown },
  });
}

export async function runAction(
  action: ActionDefinition,
  parameters: Json,
  options: Partial<Omit<InvokeRequest, 'context'>> & { context?: Partial<AttemptContext> } = {},
): Promise<AttemptResult> {
  const { context, ...rest } = options;
  return invokeAction({
    registry: createRegistry([action]),
    actionType: action.type,
    parameters,
    timeoutMs: null,
    context: attemptContext(context),
    ...rest,
  });
}

export function expectSuccess(result: AttemptResult): AttemptSuccess {
  if (!result.ok) throw new Error(`expected a success, got ${result.error.code}: ${result.error.message}`);
  return result;
}

export function expectFailure(result: AttemptResult): AttemptFailure {
  if (result.ok) throw new Error(`expected a failure, got ${result.outputsText}`);
  return result;
}
