// An action whose every attempt waits until the test says how it ends. With it, a test holds an execution at one exact point,
// without a clock.

import { z } from 'zod';
import type { ActionContext, ActionResult } from '../../src/action/action.ts';
import type { Json } from '../../src/core/json/json.ts';
import { type ActionDefinition, defineAction } from '../../src/main.ts';

interface HeldAttempt {
  readonly params: Record<string, Json>;
  readonly context: ActionContext;
  succeed(outputs?: unknown, resourceLinks?: NonNullable<ActionResult['resourceLinks']>): void;
  fail(error: unknown): void;
}

export interface ControlledAction {
  readonly definition: ActionDefinition;
  /** The next attempt that begins and that the test has not taken yet. If a node is named, only attempts of that node. */
  next(nodeId?: string): Promise<HeldAttempt>;
  /** Every attempt so far, in the order in which the attempts began. */
  readonly begun: readonly HeldAttempt[];
  /** Drops the attempts of this test, so that the next test does not see them. */
  forget(): void;
  /** The attempts of one execution, for tests that run side by side. */
  of(executionId: string): Pick<ControlledAction, 'next'>;
}

export function controlledAction(type: string): ControlledAction {
  const begun: HeldAttempt[] = [];
  const free: HeldAttempt[] = [];
  const takers: { isWanted: (attempt: HeldAttempt) => boolean; take: (attempt: HeldAttempt) => void }[] = [];

  function arrived(attempt: HeldAttempt): void {
    begun.push(attempt);
    const taker = takers.findIndex(({ isWanted }) => isWanted(attempt));
    if (taker < 0) free.push(attempt);
    else takers.splice(taker, 1)[0]!.take(attempt);
  }

  const definition = defineAction({
    type,
    version: '1.0.0',
    connector: type.slice(0, type.indexOf('.')),
    category: 'Test',
    params: z.record(z.string(), z.unknown()),
    outputs: z.unknown(),
    run(params, context) {
      const { promise, resolve, reject } = Promise.withResolvers<ActionResult>();
      arrived({
        params: params as Record<string, Json>,
        context,
        succeed: (outputs = {}, resourceLinks = []) => resolve({ outputs, resourceLinks }),
        fail: reject,
      });
      return promise;
    },
  });

  function take(nodeId?: string, executionId?: string): Promise<HeldAttempt> {
    const isWanted = ({ context }: HeldAttempt) =>
      (nodeId === undefined || nodeId === context.nodeId) &&
      (executionId === undefined || executionId === context.executionId);
    const index = free.findIndex(isWanted);
    if (index >= 0) return Promise.resolve(free.splice(index, 1)[0]!);
    return new Promise((resolve) => takers.push({ isWanted, take: resolve }));
  }

  return {
    definition,
    begun,
    forget() {
      free.length = 0;
      takers.length = 0;
    },
    next: (nodeId) => take(nodeId),
    of: (executionId) => ({ next: (nodeId) => take(nodeId, executionId) }),
  };
}
