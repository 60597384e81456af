// Metrics with the names of 000 §14.3 and 004 §8.2, fed by what the engine observes and, for depths, asked of the database
// when somebody scrapes.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { AttemptRequest, AttemptResult, EndedExecution, EngineMetric } from '../engine/environment.ts';
import type { ExecutionReader } from '../store/reader-port.ts';
import type { TriggerRecord } from '../store/trigger-port.ts';
import type { Fired } from '../trigger/firing.ts';

export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
  executionEnded(ended: EndedExecution): void;
  attemptEnded(request: AttemptRequest, result: AttemptResult, durationMs: number): void;
  triggerFired(trigger: TriggerRecord, fired: Fired): void;
  templateRendered(durationMs: number): void;
  conditionEvaluated(durationMs: number): void;
}

const WORKFLOW_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 21_600, 86_400];
const ACTION_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300];

export function createMetrics(store: ExecutionReader, engine: ReadonlyMap<EngineMetric, number>): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const workflow = workflowMetrics(registry);
  const action = actionMetrics(registry);
  depthMetrics(registry, store);
  engineCounters(registry, engine);
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    ...workflow,
    ...action,
    ...triggerMetrics(registry),
    ...evaluationMetrics(registry),
  };
}

function workflowMetrics(registry: Registry): Pick<Metrics, 'executionEnded'> {
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
  return {
    executionEnded({ execution: { workflowId }, status, state }) {
      if (status === 'Succeeded') success.inc({ workflowId });
      else failure.inc({ workflowId, reason: failureReason(status, state?.error?.code) });
      if (state === null) return;
      const { startedAt, at, nodes } = state;
      duration.observe({ workflowId, status }, (at - (startedAt ?? at)) / 1000);
      const started = nodes.filter(({ childId }) => childId !== null).length;
      if (started > 0) children.inc({ parentWorkflowId: workflowId }, started);
    },
  };
}

const VALIDATION_CODES = new Set([
  'TEMPLATE_ERROR',
  'EVALUATION_ERROR',
  'BUDGET_EXCEEDED',
  'PARAMETERS_INVALID',
  'WFENG005',
]);

/** 000 §14.3: one of four. */
function failureReason(status: string, code: string | undefined): string {
  if (status === 'TimedOut') return 'timeout';
  if (status === 'Cancelled') return 'cancelled';
  return code !== undefined && VALIDATION_CODES.has(code) ? 'validation_error' : 'action_failed';
}

function actionMetrics(registry: Registry): Pick<Metrics, 'attemptEnded'> {
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
  const errors = new Counter({
    name: 'engine_errors_total',
    help: 'Failures by category.',
    labelNames: ['category'],
    registers,
  });
  return {
    attemptEnded({ actionType, attempt }, result, durationMs) {
      const status = statusOf(result);
      duration.observe({ actionType }, durationMs / 1000);
      stepDuration.observe({ type: actionType }, durationMs / 1000);
      steps.inc({ type: actionType, status });
      if (attempt > 1) retries.inc({ actionType });
      if (result.ok) return;
      failures.inc({ actionType, status });
      errors.inc({ category: status === 'TimedOut' ? 'TIMEOUT' : result.error.code });
    },
  };
}

function triggerMetrics(registry: Registry): Pick<Metrics, 'triggerFired'> {
  const firings = new Counter({
    name: 'trigger_firings_total',
    help: 'Firings of triggers by what became of them.',
    labelNames: ['triggerType', 'outcome'],
    registers: [registry],
  });
  return { triggerFired: ({ triggerType }, { outcome }) => firings.inc({ triggerType, outcome }) };
}

function statusOf(result: AttemptResult): string {
  if (result.ok) return 'Succeeded';
  if (result.aborted === true) return 'Cancelled';
  if (result.timedOut === true) return 'TimedOut';
  return result.retryable ? 'RetriableFailure' : 'Failed';
}

/** Only of what is evaluated outside the decider, which has no clock (I16): documents, and conditions of triggers. */
function evaluationMetrics(registry: Registry): Pick<Metrics, 'templateRendered' | 'conditionEvaluated'> {
  const registers = [registry];
  const rendered = new Histogram({
    name: 'template_render_duration_seconds',
    help: 'Rendering a document template.',
    buckets: ACTION_BUCKETS,
    registers,
  });
  const evaluated = new Histogram({
    name: 'condition_eval_duration_seconds',
    help: 'Evaluating the activation condition of a trigger.',
    buckets: ACTION_BUCKETS,
    registers,
  });
  return {
    templateRendered: (durationMs) => rendered.observe(durationMs / 1000),
    conditionEvaluated: (durationMs) => evaluated.observe(durationMs / 1000),
  };
}

function depthMetrics(registry: Registry, store: ExecutionReader): void {
  const registers = [registry];
  const byWorkflow = new Gauge({
    name: 'queue_depth',
    help: 'Executions that have not ended, by workflow.',
    labelNames: ['workflowId'],
    registers,
    async collect() {
      const rows = await store.queueDepth();
      this.reset();
      for (const { workflowId, depth } of rows) this.inc({ workflowId }, depth);
    },
  });
  const total = new Gauge({
    name: 'engine_queue_depth',
    help: 'Executions that have not ended.',
    labelNames: ['adapter', 'taskQueue'],
    registers,
    async collect() {
      const rows = await store.queueDepth();
      const depth = rows.reduce((sum, row) => sum + row.depth, 0);
      this.set({ adapter: 'native', taskQueue: 'default' }, depth);
    },
  });
  registry.registerMetric(byWorkflow);
  registry.registerMetric(total);
}

/** What the runner counts for itself: claims, commits, takeovers … */
function engineCounters(registry: Registry, engine: ReadonlyMap<EngineMetric, number>): void {
  const counter = new Counter({
    name: 'pawl_engine_total',
    help: 'What the runner of this process has done, by kind.',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [kind, count] of engine) this.inc({ kind }, count);
    },
  });
  registry.registerMetric(counter);
}
