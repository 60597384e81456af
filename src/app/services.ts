// The queries and commands of an installation, in this process or over HTTP: executions, workflows, templates, triggers, quotas,
// dead letters. None of them runs an execution.

import { randomBytes } from 'node:crypto';
import { guardedFetch } from '../action/guarded-fetch.ts';
import { readPlugin } from '../action/plugin/plugins.ts';
import { publishOptions } from '../config/definition-setting.ts';
import type { Drivers } from '../driver/drivers.ts';
import { BulkActions } from '../execution/bulk-actions.ts';
import { DeadLetters } from '../execution/dead-letters.ts';
import { Erasure } from '../execution/erasure.ts';
import { ExecutionJournals } from '../execution/execution-journals.ts';
import { ExecutionLists } from '../execution/execution-lists.ts';
import { ExecutionQueries } from '../execution/execution-queries.ts';
import { Executions } from '../execution/executions.ts';
import { FollowedHeads } from '../execution/followed-heads.ts';
import { LargeReads } from '../execution/inspection.ts';
import { LiveBoard } from '../execution/live-board.ts';
import { PlanRuns } from '../execution/plan-runs.ts';
import { Quotas } from '../quota/quotas.ts';
import { createWorkflowThrottle } from '../server/rate-limit.ts';
import { Statistics } from '../statistics/statistics.ts';
import { Health } from '../telemetry/health.ts';
import { WorkflowTemplates } from '../template/workflow-templates.ts';
import { FileTriggers } from '../trigger/file-triggers.ts';
import type { TriggerStart } from '../trigger/firing.ts';
import { createTriggering } from '../trigger/triggering.ts';
import { cronProblem } from '../trigger/triggers.ts';
import { pipelineWebhookProblems } from '../trigger/webhook/settings.ts';
import { Pipelines } from '../workflow/workflow-pipeline.ts';
import { WorkflowQueries } from '../workflow/workflow-queries.ts';
import { Workflows } from '../workflow/workflows.ts';
import type { Foundation } from './foundation.ts';
import type { MessagingDeps } from './messaging.ts';
import type { Switchboard } from './switchboard.ts';

/** A dashboard shows no larger number. */
const MOST_COUNTED = 10_000;
const MAX_KEY_SET_BYTES = 256 * 1024;

export type Services = ReturnType<typeof createServices>;

type ServedBoard = Pick<Switchboard, 'tell' | 'adopt' | 'holds'>;
type ServedDrivers = Pick<Drivers, 'choose' | 'requireSupported' | 'wanted' | 'mailCame' | 'problems'>;

function createExecutions(
  { config, shared, callbackKey, schemas, book, telemetry }: Foundation,
  { tell, adopt, holds }: ServedBoard,
  drivers: ServedDrivers,
  largeReads: LargeReads,
): Executions {
  return new Executions({
    ...shared,
    largeReads,
    callbackKey,
    schemas,
    allowDraftExecution: config.catalog.allowDraftExecution,
    limitsRuns: (tenantId) => book.limitsRuns(tenantId),
    wallClockMs: () => Date.now(),
    accepted: telemetry.accepted,
    adopt,
    drivers,
    outsideMailArrived: (executionId) => drivers.mailCame(executionId),
    workWanted: (lanes) => tell({ kind: 'work', lanes }),
    mailArrived: (executionId) => tell({ kind: 'mail', executionId }),
    isHere: holds,
    warn: telemetry.warn,
  });
}

/** Nobody would try a refused slot again: slots over a limit of starts wait, whatever `whenExceeded` says. */
function slotHolder({ config, store }: Foundation) {
  const { rateLimit, auth } = config;
  if (auth.allowLooseAuth || rateLimit.perTenantStartsPerMinute + rateLimit.perWorkflowPerMinute === 0)
    return undefined;
  const whenExceeded = rateLimit.whenExceeded === 'REJECT' ? 'QUEUE' : rateLimit.whenExceeded;
  const throttle = createWorkflowThrottle(store, { ...rateLimit, whenExceeded });
  return (start: TriggerStart) => throttle.spend(start);
}

export function createServices(foundation: Foundation, board: ServedBoard, drivers: ServedDrivers) {
  const { tell, holds } = board;
  const { config, store, shared, telemetry, book, documents, renderer, schemas } = foundation;
  const strict = !config.auth.allowLooseAuth;
  const largeReads = new LargeReads(store);
  const executions = createExecutions(foundation, board, drivers, largeReads);
  const heads = new FollowedHeads({ ...shared, isHere: holds, warn: telemetry.warn });
  const queries = new ExecutionQueries({ ...shared, heads, largeReads });
  const journals = new ExecutionJournals({ ...shared, heads, largeReads });
  const lists = new ExecutionLists(shared);
  const quotas = new Quotas({ store, changed: () => book.runOnce() });
  const workflowQueries = new WorkflowQueries(store);
  const triggering = createTriggering({
    ...shared,
    start: (request) => executions.start(request),
    tellWaiting: (...event) => executions.tellWaiting(...event),
    holdSlot: slotHolder(foundation),
    admitCron: async (tenantId) => (book.isCounted(tenantId) ? quotas.checkCron(tenantId) : undefined),
    observer: telemetry,
    measure: telemetry.measure,
    expressionLimits: config.expression,
    randomBytes,
    fetchKeys: guardedFetch(foundation.http, { maxBytes: MAX_KEY_SET_BYTES }),
    wallClockMs: () => Date.now(),
    strict,
    deadLetters: config.engine.deadLetters,
    options: config.trigger,
  });
  const workflows = new Workflows({
    store,
    queries: workflowQueries,
    quotas,
    schemas,
    fileTriggers: new FileTriggers(triggering.triggers),
    options: { ...publishOptions(config), engineProblems: (plan, driver) => drivers.problems(plan, driver) },
  });
  return {
    executions,
    heads,
    queries,
    journals,
    lists,
    statistics: new Statistics(store, foundation.meter),
    bulk: new BulkActions({ ...shared, lists, executions, warn: telemetry.warn }),
    board: new LiveBoard({
      ...shared,
      lists,
      sample: (tenantId) => store.liveNow({ tenantId, limit: MOST_COUNTED }),
      health: () => new Health({ store, executions, actionTypes: foundation.registry.types }).brief(),
      wallClockMs: () => Date.now(),
    }),
    readPlugin,
    erasure: new Erasure(store, () => foundation.artifacts.runOnce()),
    runs: new PlanRuns({ executions, queries, workflows, quotas }),
    deadLetters: new DeadLetters({
      store,
      fireAgain: (...firing) => triggering.intake.again(...firing),
      workWanted: () => {
        tell({ kind: 'work' });
        drivers.wanted();
      },
    }),
    workflows,
    workflowQueries,
    pipelines: new Pipelines({
      store,
      queries: workflowQueries,
      workflows,
      cronProblem,
      webhookProblems: (webhook) => pipelineWebhookProblems(webhook, strict),
    }),
    documents,
    workflowTemplates: new WorkflowTemplates({ store, workflows, renderer }),
    quotas,
    triggering,
  };
}

/** The way back in: routes start workflows, and our own events fire triggers. */
export function comingBackIn({
  executions,
  triggering,
}: Services): Pick<MessagingDeps, 'startWorkflow' | 'handInEvent'> {
  return {
    // A lifecycle's env is the environment of the workflows it starts.
    startWorkflow: (start) => executions.start({ ...start, environmentId: String(start.trigger.env) }),
    handInEvent: (tenantId, event) => triggering.intake.event(tenantId, event, {}),
  };
}
