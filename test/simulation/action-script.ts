// The outside world of actions: each attempt takes its time, has its effect, and ends as the script of its workflow says. The
// effect belongs to the world and not to the process: it may happen although the process that asked for it is gone.

import type { AttemptRequest, AttemptResult, RunAttempt } from '../../src/action/attempt.ts';
import type { JsonObject } from '../../src/core/json/json.ts';
import type { Audit } from './audit.ts';
import type { Random } from './random.ts';
import type { AttemptOutcome } from './workflow.ts';
import type { Process, World } from './world.ts';

export interface ActionDeps {
  readonly world: World;
  readonly audit: Audit;
  readonly random: Random;
  readonly outcomeOf: (executionId: string, nodeId: string, attempt: number) => AttemptOutcome;
  /** Outputs that a successful attempt returns besides its own. */
  readonly outputsOf: (executionId: string, nodeId: string) => JsonObject;
  /** Effects so far, by idempotency key. */
  readonly effects: Map<string, number>;
}

export function createActions(deps: ActionDeps, process: Process, crash: () => void): RunAttempt {
  const { world, audit, random, effects } = deps;
  return (request) => {
    const run = audit.dispatched(process, request);
    const { executionId, nodeId, attempt, idempotencyKey } = request;
    const outcome = deps.outcomeOf(executionId, nodeId, attempt);
    const more = deps.outputsOf(executionId, nodeId);
    if (outcome !== 'crash' && random.chance(0.15)) return atOnce();
    return new Promise((resolve) => {
      const takesMs = duration(random);
      world.schedule(takesMs * random.next(), null, () => {
        if (process.isDead && random.chance(0.5)) return;
        effects.set(idempotencyKey, (effects.get(idempotencyKey) ?? 0) + 1);
      });
      let isOver = false;
      const finish = (result: AttemptResult) => {
        if (isOver) return;
        isOver = true;
        const dispatch = audit.dispatches.get(run)!;
        dispatch.isFinished = result.ok || !result.aborted;
        dispatch.isOver = true;
        resolve(result);
      };
      process.timers.after(takesMs, () =>
        outcome === 'crash' ? crash() : finish(resultOf(outcome, run, request, more)),
      );
      const obeysAfterMs = random.chance(0.6) ? random.between(0, 300) : null;
      request.signal.addEventListener('abort', () => {
        if (obeysAfterMs === null || isOver) return;
        const error = { code: 'CANCELLED', message: `run ${run} was told to stop` };
        process.timers.after(obeysAfterMs, () => finish({ ok: false, error, retryable: false, aborted: true }));
      });
    });

    /** Some actions answer without a promise. */
    function atOnce(): AttemptResult {
      effects.set(idempotencyKey, (effects.get(idempotencyKey) ?? 0) + 1);
      Object.assign(audit.dispatches.get(run)!, { isFinished: true, isOver: true });
      return resultOf(outcome, run, request, more);
    }
  };
}

function duration(random: Random): number {
  if (random.chance(0.7)) return random.between(1, 40);
  return random.chance(0.75) ? random.between(40, 600) : random.between(600, 6_000);
}

function resultOf(
  outcome: AttemptOutcome,
  run: string,
  { executionId, nodeId }: AttemptRequest,
  more: JsonObject,
): AttemptResult {
  switch (outcome) {
    case 'ok': {
      const link = { system: 'world', resourceType: 'effect', resourceId: `${executionId}/${nodeId}` };
      const log = { at: 1, level: 'Info', message: `run ${run}`, data: null };
      return { ok: true, outputsText: JSON.stringify({ ok: true, run, ...more }), resourceLinks: [link], logs: [log] };
    }
    case 'badData': {
      const link = { system: 'wor\u0000ld', resourceType: 'effect', resourceId: nodeId };
      return { ok: true, outputsText: JSON.stringify({ ok: true, run }), resourceLinks: [link] };
    }
    case 'timeout':
      return failure('ATTEMPT_TIMEOUT', run, true, { timedOut: true });
    case 'retryable':
      return failure('UNAVAILABLE', run, true, {});
    default:
      return failure('BROKEN', run, false, {});
  }
}

function failure(code: string, run: string, retryable: boolean, more: { timedOut?: boolean }): AttemptResult {
  return { ok: false, error: { code, message: `run ${run} came to nothing` }, retryable, ...more };
}
