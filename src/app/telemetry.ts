// Log, metrics, traces and embedding observers. Each exists only when it is wanted; otherwise nothing of OpenTelemetry is loaded.

import packageJson from '../../package.json' with { type: 'json' };
import type { AttemptResult, PluginCalled, RanAttempt, RunAttempt } from '../action/attempt.ts';
import type { Config } from '../config/config.ts';
import type { Measure } from '../core/decider/input.ts';
import type { RaisedNotice } from '../delivery/notices.ts';
import type { EndedExecution, EngineMetric } from '../engine/environment.ts';
import type { AppObserver } from '../server/app.ts';
import type { RunningServer } from '../server/server.ts';
import type { NewExecution, Store } from '../store/port.ts';
import type { TriggerRecord } from '../store/trigger-port.ts';
import type { HealthDeps } from '../telemetry/health.ts';
import { createLog, type Log, type LogTarget } from '../telemetry/log.ts';
import { createMetrics, type Metrics } from '../telemetry/metrics.ts';
import type { ExecutionTracing } from '../telemetry/trace/tracing.ts';
import type { Fired } from '../trigger/firing.ts';

export interface TelemetryOptions {
  /** Where the JSON log goes; absent: nowhere. */
  readonly logTarget?: LogTarget | undefined;
  readonly onWarning?: ((event: string, details: Record<string, unknown>) => void) | undefined;
  /** Whether the metrics are exposed. */
  readonly serve?: boolean | undefined;
}

export interface Telemetry {
  /** The counters of this process's runner. */
  readonly counts: ReadonlyMap<EngineMetric, number>;
  /** null: metrics are not exposed. */
  readonly metrics: Metrics | null;
  readonly tracing: ExecutionTracing | undefined;
  readonly measure: Measure | undefined;
  readonly http: AppObserver;
  warn(event: string, details: Record<string, unknown>): void;
  count(metric: EngineMetric, by?: number): void;
  accepted(execution: NewExecution): void;
  ended(ended: EndedExecution): void;
  fired(trigger: TriggerRecord, fired: Fired): void;
  rendered(durationMs: number): void;
  noticed(notice: RaisedNotice): void;
  /** An event could not be handed to a bus. */
  publishFailed(bus: string): void;
  buried(bus: string): void;
  /** An attempt that somebody else ran has been reported. */
  attemptEnded(request: RanAttempt, result: AttemptResult, startedAt: number): void;
  pluginCalled(call: PluginCalled): void;
  /** Wraps a runner of attempts with measuring, logging and tracing, as configured. */
  observed(run: RunAttempt): RunAttempt;
  close(): Promise<void>;
}

export async function openTelemetry(
  { logTarget, onWarning, serve }: TelemetryOptions,
  config: Config,
  store: Store,
): Promise<Telemetry> {
  const counts = new Map<EngineMetric, number>();
  const isAsked = serve === true || config.probe.port !== undefined;
  const metrics = isAsked ? createMetrics(store, counts, config.cost) : null;
  const log = logTarget === undefined ? null : createLog(config.server.logLevel, logTarget);
  const warn = (event: string, details: Record<string, unknown>): void => {
    log?.warn(event, details);
    onWarning?.(event, details);
  };
  const tracing = await openTraces(config, warn);
  return {
    counts,
    metrics,
    measure: metrics === null ? undefined : measuring(metrics),
    tracing,
    warn,
    http: {
      answered: (request) => log?.request(request),
      failed: (error, correlationId) => log?.failed(error, correlationId),
    },
    count: (metric, by = 1) => void counts.set(metric, (counts.get(metric) ?? 0) + by),
    accepted: (execution) => log?.executionAccepted(execution),
    ended(ended) {
      metrics?.executionEnded(ended);
      log?.executionEnded(ended);
      tracing?.executionEnded(ended);
    },
    fired(trigger, firing) {
      metrics?.triggerFired(trigger, firing);
      log?.triggerFired(trigger, firing);
    },
    rendered: (durationMs) => metrics?.templateRendered(durationMs),
    noticed: (notice) => log?.noticed(notice),
    publishFailed: (bus) => metrics?.publishFailed(bus),
    buried: (bus) => metrics?.buried(bus),
    attemptEnded(request, result, startedAt) {
      const durationMs = Math.max(0, Date.now() - startedAt);
      metrics?.attemptEnded(request, result, durationMs);
      log?.attemptEnded(request, result, durationMs);
      tracing?.attemptEnded(request, result, startedAt);
    },
    pluginCalled: (call) => metrics?.pluginCalled(call),
    observed(run) {
      const measured = metrics === null && log === null ? run : measuredBy(run, metrics, log);
      return tracing === undefined ? measured : tracing.traced(measured);
    },
    close: async () => tracing?.close(),
  };
}

/** The second port, for probes and metrics, also of runners. */
export async function openProbe(
  { metrics }: Telemetry,
  { probe: { host, port } }: Config,
  parts: HealthDeps,
): Promise<RunningServer | null> {
  if (port === undefined || metrics === null) return null;
  const { startProbe } = await import('../server/probe.ts');
  return startProbe({ ...parts, metrics }, { host, port });
}

async function openTraces({ trace }: Config, warn: Telemetry['warn']): Promise<ExecutionTracing | undefined> {
  const { endpoint } = trace;
  if (endpoint === undefined) return undefined;
  const { openTracing } = await import('../telemetry/trace/tracing.ts');
  const serviceVersion = packageJson.version;
  return openTracing({ ...trace, endpoint, serviceVersion, wallClockMs: () => Date.now(), warn });
}

function measuring(metrics: Metrics): Measure {
  return (what, work) => {
    const startedAt = performance.now();
    try {
      return work();
    } finally {
      const durationMs = performance.now() - startedAt;
      if (what === 'condition') metrics.conditionEvaluated(durationMs);
      else metrics.templateRendered(durationMs);
    }
  };
}

function measuredBy(run: RunAttempt, metrics: Metrics | null, log: Log | null): RunAttempt {
  return (request) => {
    const startedAt = performance.now();
    const ended = (result: AttemptResult) => {
      const durationMs = performance.now() - startedAt;
      metrics?.attemptEnded(request, result, durationMs);
      log?.attemptEnded(request, result, durationMs);
      return result;
    };
    const outcome = run(request);
    return outcome instanceof Promise ? outcome.then(ended) : ended(outcome);
  };
}
