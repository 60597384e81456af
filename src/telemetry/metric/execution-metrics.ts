// Outcomes of executions and attempts. Labels are workflows, actions and tenants of this installation, or closed sets: a caller
// cannot create one by a payload.

import { Counter, Histogram, type Registry } from 'prom-client';
import type { AttemptResult, PluginCalled, RanAttempt } from '../../action/attempt.ts';
import { ERROR_CATEGORIES, errorCategory } from '../../core/error/category.ts';
import { isJsonObject, type Json } from '../../core/json/json.ts';
import type { EndedExecution } from '../../engine/environment.ts';
import { seriesCap } from './series-cap.ts';

/** The configured cost of running; 0: not counted. */
export interface CostRates {
  readonly usdPerAttempt: number;
  readonly usdPerAttemptHour: number;
  readonly usdPerUnit: number;
}

export interface ExecutionMetrics {
  executionEnded(ended: EndedExecution): void;
  attemptEnded(request: RanAttempt, result: AttemptResult, durationMs: number): void;
  pluginCalled(call: PluginCalled): void;
}

const WORKFLOW_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 21_600, 86_400];
const ACTION_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300];
const MS_PER_HOUR = 3_600_000;

export function executionMetrics(registry: Registry, cost: CostRates): ExecutionMetrics {
  const errors = new Counter({
    name: 'engine_errors_total',
    help: 'Failed attempts and given-up executions, by category.',
    labelNames: ['category'],
    registers: [registry],
  });
  for (const category of ERROR_CATEGORIES) errors.inc({ category }, 0);
  const failed = (code: string) => errors.inc({ category: errorCategory(code) });
  return {
    ...workflowMetrics(registry, failed),
    ...actionMetrics(registry, cost, failed),
    ...pluginMetrics(registry),
  };
}

type Failed = (code: string) => void;

function workflowMetrics(registry: Registry, failed: Failed): Pick<ExecutionMetrics, 'executionEnded'> {
  const registers = [registry];
  const duration = new Histogram({
    name: 'workflow_duration_seconds',
    help: 'From the start of an execution to its end.',
    labelNames: ['workflowId', 'status'],
    buckets: WORKFLOW_BUCKETS,
    registers,
  });
  const success = new Counter({
    name: 'workflow_success_total',
    help: 'Executions that succeeded.',
    labelNames: ['workflowId'],
    registers,
  });
  const failure = new Counter({
    name: 'workflow_failure_total',
    help: 'Executions that did not, by reason.',
    labelNames: ['workflowId', 'reason'],
    registers,
  });
  const children = new Counter({
    name: 'subworkflow_invocation_total',
    help: 'Subworkflows that executions of this workflow started.',
    labelNames: ['parentWorkflowId'],
    registers,
  });
  const named = seriesCap();
  return {
    executionEnded({ execution, status, state }) {
      const workflowId = named(execution.workflowId);
      if (status === 'Succeeded') success.inc({ workflowId });
      else failure.inc({ workflowId, reason: failureReason(status, state?.error?.code) });
      const code = endedBy(status, state);
      if (code !== null) failed(code);
      if (state === null) return;
      const { startedAt, at, nodes } = state;
      duration.observe({ workflowId, status }, (at - (startedAt ?? at)) / 1000);
      const started = nodes.filter(({ childId }) => childId !== null).length;
      if (started > 0) children.inc({ parentWorkflowId: workflowId }, started);
    },
  };
}

/** The code of an end without a counted attempt; null: there is none. */
function endedBy(status: string, state: EndedExecution['state']): string | null {
  if (state === null) return 'POISON';
  if (status === 'TimedOut') return 'EXECUTION_TIMEOUT';
  return state.error?.code === 'TEMPLATE_ERROR' ? state.error.code : null;
}

/** One of four reasons. */
function failureReason(status: string, code: string | undefined): string {
  if (status === 'TimedOut') return 'timeout';
  if (status === 'Cancelled') return 'cancelled';
  return code !== undefined && VALIDATION_CODES.has(code) ? 'validation_error' : 'action_failed';
}

const VALIDATION_CODES = new Set([
  'TEMPLATE_ERROR',
  'EVALUATION_ERROR',
  'BUDGET_EXCEEDED',
  'PARAMETERS_INVALID',
  'WFENG005',
]);

function actionMetrics(
  registry: Registry,
  { usdPerAttempt, usdPerAttemptHour, usdPerUnit }: CostRates,
  failed: Failed,
): Pick<ExecutionMetrics, 'attemptEnded'> {
  const registers = [registry];
  const labelNames = ['actionType'];
  const duration = new Histogram({
    name: 'action_duration_seconds',
    help: 'One attempt of an action.',
    labelNames,
    buckets: ACTION_BUCKETS,
    registers,
  });
  const retries = new Counter({ name: 'action_retry_total', help: 'Attempts after the first.', labelNames, registers });
  const failures = new Counter({
    name: 'action_failure_total',
    help: 'Attempts that failed, by what they ended as.',
    labelNames: ['actionType', 'status'],
    registers,
  });
  const steps = new Counter({
    name: 'engine_steps_executed_total',
    help: 'Attempts by action type and outcome.',
    labelNames: ['type', 'status'],
    registers,
  });
  const stepDuration = new Histogram({
    name: 'engine_execution_duration_seconds',
    help: 'One attempt, by action type.',
    labelNames: ['type'],
    buckets: ACTION_BUCKETS,
    registers,
  });
  const cost = new Counter({
    name: 'engine_tenant_cost_usd',
    help: 'What the attempts of a tenant cost, by the configured rates (cost.*).',
    labelNames: ['tenant'],
    registers,
  });
  const units = new Counter({
    name: 'engine_tenant_cost_units',
    help: 'The `costUnits` that the steps of a tenant have reported in their metrics.',
    labelNames: ['tenant'],
    registers,
  });
  const named = seriesCap();
  return {
    attemptEnded(request, result, durationMs) {
      const { actionType, attempt, tenantId } = request;
      const status = statusOf(result);
      duration.observe({ actionType }, durationMs / 1000);
      stepDuration.observe({ type: actionType }, durationMs / 1000);
      steps.inc({ type: actionType, status });
      const tenant = named(tenantId);
      const used = request.contract === undefined ? 0 : costUnitsOf(result);
      if (used > 0) units.inc({ tenant }, used);
      cost.inc({ tenant }, usdPerAttempt + (usdPerAttemptHour * durationMs) / MS_PER_HOUR + usdPerUnit * used);
      if (attempt > 1) retries.inc({ actionType });
      if (result.ok) return;
      failures.inc({ actionType, status });
      failed(status === 'TimedOut' ? 'ATTEMPT_TIMEOUT' : result.error.code);
    },
  };
}

/** By version: a planner that tries a new version on a few runs compares the two. */
function pluginMetrics(registry: Registry): Pick<ExecutionMetrics, 'pluginCalled'> {
  const registers = [registry];
  const calls = new Counter({
    name: 'engine_plugin_calls_total',
    help: 'Calls of plugins, by version and by what became of them: done, failed, broken or stopped.',
    labelNames: ['plugin', 'version', 'outcome'],
    registers,
  });
  const duration = new Histogram({
    name: 'engine_plugin_duration_seconds',
    help: 'One call of a plugin, by version.',
    labelNames: ['plugin', 'version'],
    buckets: ACTION_BUCKETS,
    registers,
  });
  const named = seriesCap();
  return {
    pluginCalled({ pluginId, version, outcome, durationMs }) {
      const [plugin = 'other', of = 'other'] = named(`${pluginId} ${version}`).split(' ');
      calls.inc({ plugin, version: of, outcome });
      duration.observe({ plugin, version: of }, durationMs / 1000);
    },
  };
}

function statusOf(result: AttemptResult): string {
  if (result.ok) return 'Succeeded';
  if (result.aborted === true) return 'Cancelled';
  if (result.timedOut === true) return 'TimedOut';
  return result.retryable ? 'RetriableFailure' : 'Failed';
}

/** The cost that a step reports. A failed step costs, too. */
function costUnitsOf({ outputs, outputsText }: AttemptResult): number {
  const known = outputs ?? (outputsText?.includes('"costUnits"') ? (JSON.parse(outputsText) as Json) : null);
  const metrics = isJsonObject(known) ? known.metrics : undefined;
  const used = isJsonObject(metrics) ? metrics.costUnits : undefined;
  return typeof used === 'number' && Number.isFinite(used) && used > 0 ? used : 0;
}
