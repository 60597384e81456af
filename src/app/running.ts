// The runner of an installation, and the path of an attempt through it: counted for the tenant, measured, and with its name on
// its logs and errors.

import { randomInt } from 'node:crypto';
import { hostname } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import packageJson from '../../package.json' with { type: 'json' };
import type { Principal } from '../action/action.ts';
import type { RunAttempt } from '../action/attempt.ts';
import { environmentCredentials } from '../action/credentials.ts';
import { Plugins } from '../action/plugin/plugins.ts';
import { createActionAttempts } from '../engine/attempt/action-attempt.ts';
import { withOrigin } from '../engine/attempt/attempt-origin.ts';
import { LiveLines } from '../engine/attempt/live-lines.ts';
import { Runner } from '../engine/runner/runner.ts';
import type { TaskRouting } from '../engine/turn/remote-attempts.ts';
import { callbackToken } from '../execution/callback-token.ts';
import { limitHeavySteps } from '../quota/heavy-steps.ts';
import { HTTP_STEP, UsageMeter } from '../quota/usage-meter.ts';
import { TriggerCheck } from '../workflow/trigger-check.ts';
import { OVER_WHEN_THEY_ANSWER } from './catalog.ts';
import type { Closers, Foundation } from './foundation.ts';
import { DEFAULT_TENANT } from './secrecy.ts';
import type { Services } from './services.ts';
import type { Switchboard } from './switchboard.ts';

/** The path of an attempt to its action, for every engine. */
export function createAttempts(
  foundation: Foundation,
  closers: Closers,
  linesTold: (executionId: string, id: number) => void,
): RunAttempt {
  const { config, registry, store, http, telemetry, shared, book, disabled, credentials, secrets } = foundation;
  const fromEnvironment = environmentCredentials(config.connectorTokens);
  const meter = new UsageMeter({ ...shared, observer: telemetry, isCounted: (tenantId) => book.isCounted(tenantId) });
  closers.push(() => meter.stop());
  const live = new LiveLines({ store, timers: shared.timers, warn: telemetry.warn, told: linesTold });
  closers.push(() => live.stop());
  const attempts = createActionAttempts({
    registry,
    store,
    http,
    artifacts: foundation.artifacts,
    plugins: new Plugins({
      ...config.plugin,
      store,
      folder: config.plugin.folder ?? null,
      now: () => Date.now(),
      called: telemetry.pluginCalled,
      warn: telemetry.warn,
    }),
    secrets: async (refs, { tenantId, environmentId, principal }) => {
      const { userId: principalId } = principal as Principal;
      return Promise.all(refs.map((ref) => secrets.get(ref, { tenantId, environmentId, principalId })));
    },
    credential: (request) => credentials.resolve(request),
    environmentToken: (tenantId, connectorId) =>
      tenantId === DEFAULT_TENANT ? fromEnvironment.token(connectorId) : undefined,
    wallClockMs: () => Date.now(),
    outputLimitBytes: config.action.outputLimitBytes,
    abortGraceMs: config.engine.abortGraceMs,
    disabled,
    timers: shared.timers,
    live,
  });
  const { timers } = shared;
  const limited = limitHeavySteps({ store, timers, rate: config.rateLimit }, telemetry.observed(attempts));
  return withOrigin(meter.measure(limited), OVER_WHEN_THEY_ANSWER);
}

export function createRunner(
  foundation: Foundation,
  {
    executions,
    heads,
    released,
    routing,
  }: Pick<Services, 'executions' | 'heads'> & Pick<Switchboard, 'released'> & { readonly routing: TaskRouting },
  publicUrl: () => string,
  run: RunAttempt,
): Runner {
  const { config, store, telemetry, callbackKey, shared, book, schemas } = foundation;
  const { openLeaseThread } = foundation;
  const triggers = new TriggerCheck(store, schemas);
  return new Runner({
    ...shared,
    observer: {
      ...telemetry,
      ended(ended) {
        executions.tellEnd(ended);
        telemetry.ended(ended);
      },
      moved: (executionId, seq) => heads.tell(executionId, seq),
    },
    tracing: telemetry.tracing,
    workReleased: released,
    routing,
    openLeaseThread,
    about: { host: hostname(), version: packageJson.version },
    checkTrigger: (...given) => triggers.check(...given),
    options: {
      ...config.engine,
      maxResidentBytes: residentBytes(config),
      expressionLimits: config.expression,
      templateStyle: config.templates,
    },
    newSeed: () => randomInt(2 ** 31),
    callbackUrl: (executionId, nodeId) => `${publicUrl()}/wh/${callbackToken(callbackKey, { executionId, nodeId })}`,
    perTenantAction: (tenantId, type) =>
      type === HTTP_STEP ? book.httpStepsAtOnce(tenantId) : Number.POSITIVE_INFINITY,
    run,
  });
}

/** A small process keeps less in memory than it could: the rest of the heap is for work in progress. */
function residentBytes({ engine }: Foundation['config']): number {
  return Math.min(engine.maxResidentBytes, getHeapStatistics().heap_size_limit / 4);
}
