// The runner of an installation, and the way of an attempt through it: to its action, counted for the tenant, measured, and with
// its name on whatever it leaves behind.

import { randomInt } from 'node:crypto';
import { environmentCredentials } from './action/credentials.ts';
import { OVER_WHEN_THEY_ANSWER } from './catalog.ts';
import { createActionAttempts } from './engine/attempt/action-attempt.ts';
import { withOrigin } from './engine/attempt/attempt-origin.ts';
import { callbackToken } from './engine/execution/callback-token.ts';
import type { Executions } from './engine/execution/executions.ts';
import { HTTP_STEP, UsageMeter } from './engine/quota/usage-meter.ts';
import { Runner } from './engine/runner/runner.ts';
import { TriggerCheck } from './engine/start/trigger-check.ts';
import type { Closers, Foundation } from './foundation.ts';

export function createRunner(
  foundation: Foundation,
  executions: Pick<Executions, 'ended'>,
  publicUrl: () => string,
  closers: Closers,
): Runner {
  const { config, registry, store, http, telemetry, callbackKey, shared, book, disabled, schemas } = foundation;
  const { openLeaseThread } = foundation;
  const triggers = new TriggerCheck(store, schemas);
  const meter = new UsageMeter({ ...shared, observer: telemetry, isCounted: (tenantId) => book.isCounted(tenantId) });
  closers.push(() => meter.stop());
  const attempts = createActionAttempts({
    registry,
    store,
    http,
    credentials: environmentCredentials(config.connectorTokens),
    wallClockMs: () => Date.now(),
    outputLimitBytes: config.action.outputLimitBytes,
    abortGraceMs: config.engine.abortGraceMs,
    disabled,
  });
  return new Runner({
    ...shared,
    observer: {
      ...telemetry,
      ended(ended) {
        executions.ended(ended);
        telemetry.ended(ended);
      },
    },
    tracing: telemetry.tracing,
    openLeaseThread,
    checkTrigger: (...given) => triggers.check(...given),
    options: { ...config.engine, expressionLimits: config.expression, templateStyle: config.templates },
    newSeed: () => randomInt(2 ** 31),
    callbackUrl: (executionId, nodeId) => `${publicUrl()}/wh/${callbackToken(callbackKey, { executionId, nodeId })}`,
    perTenantAction: (tenantId, type) =>
      type === HTTP_STEP ? book.httpStepsAtOnce(tenantId) : Number.POSITIVE_INFINITY,
    run: withOrigin(meter.measure(telemetry.observed(attempts)), OVER_WHEN_THEY_ANSWER),
  });
}
