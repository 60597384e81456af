// What may be asked of an installation, in this process or over HTTP: about executions, workflows, templates, triggers, quotas,
// dead letters. None of it runs an execution.

import { randomBytes } from 'node:crypto';
import { publishOptions } from './config/definition-setting.ts';
import { DeadLetters } from './engine/execution/dead-letters.ts';
import { ExecutionQueries } from './engine/execution/execution-queries.ts';
import { Executions } from './engine/execution/executions.ts';
import { PlanRuns } from './engine/execution/plan-runs.ts';
import { Quotas } from './engine/quota/quotas.ts';
import type { Switchboard } from './engine/runner/switchboard.ts';
import { WorkflowTemplates } from './engine/template/workflow-templates.ts';
import { Pipelines } from './engine/workflow/workflow-pipeline.ts';
import { WorkflowQueries } from './engine/workflow/workflow-queries.ts';
import { Workflows } from './engine/workflow/workflows.ts';
import type { Foundation } from './foundation.ts';
import type { MessagingDeps } from './messaging.ts';
import { createTriggering } from './trigger/triggering.ts';
import { cronProblem } from './trigger/triggers.ts';

export type Services = ReturnType<typeof createServices>;

export function createServices(foundation: Foundation, { tell, adopt }: Pick<Switchboard, 'tell' | 'adopt'>) {
  const { config, store, shared, callbackKey, telemetry, book, documents, renderer, schemas } = foundation;
  const executions = new Executions({
    ...shared,
    callbackKey,
    schemas,
    allowDraftExecution: config.catalog.allowDraftExecution,
    limitsRuns: (tenantId) => book.limitsRuns(tenantId),
    wallClockMs: () => Date.now(),
    accepted: telemetry.accepted,
    adopt,
    workWanted: (lanes) => tell({ kind: 'work', lanes }),
    mailArrived: (executionId) => tell({ kind: 'mail', executionId }),
  });
  const queries = new ExecutionQueries({ ...shared, news: (executionId) => executions.news(executionId) });
  const quotas = new Quotas({ store, changed: () => book.runOnce() });
  const workflowQueries = new WorkflowQueries(store);
  const workflows = new Workflows({
    store,
    queries: workflowQueries,
    quotas,
    schemas,
    options: publishOptions(config),
  });
  const triggering = createTriggering({
    ...shared,
    start: (request) => executions.start(request),
    admitCron: async (tenantId) => (book.isCounted(tenantId) ? quotas.checkCron(tenantId) : undefined),
    observer: telemetry,
    measure: telemetry.measure,
    expressionLimits: config.expression,
    randomBytes,
    strict: !config.auth.allowLooseAuth,
    deadLetters: config.engine.deadLetters,
    options: config.trigger,
  });
  return {
    executions,
    queries,
    runs: new PlanRuns({ executions, queries, workflows, quotas }),
    deadLetters: new DeadLetters({
      store,
      fireAgain: (...firing) => triggering.intake.again(...firing),
      workWanted: () => tell({ kind: 'work' }),
    }),
    workflows,
    workflowQueries,
    pipelines: new Pipelines({ store, queries: workflowQueries, workflows, cronProblem }),
    documents,
    workflowTemplates: new WorkflowTemplates({ store, workflows, renderer }),
    quotas,
    triggering,
  };
}

/** How messages come back in: routes start workflows, and our own events fire triggers. */
export function comingBackIn({
  executions,
  triggering,
}: Services): Pick<MessagingDeps, 'startWorkflow' | 'handInEvent'> {
  return {
    // A lifecycle's env is the environment of what it starts.
    startWorkflow: (start) => executions.start({ ...start, environmentId: String(start.trigger.env) }),
    handInEvent: (tenantId, event) => triggering.intake.event(tenantId, event, {}),
  };
}
