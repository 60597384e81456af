// The inputs of the HTTP server: the parts of the application, the options, and values built from both. Each routes file picks
// its dependencies from here.

import type { Artifacts } from '../artifact/artifacts.ts';
import type { Authorization } from '../connection/authorization.ts';
import type { Connections } from '../connection/connections.ts';
import type { Consumers } from '../delivery/consumers.ts';
import type { Deliveries } from '../delivery/deliveries.ts';
import type { Notices } from '../delivery/notices.ts';
import type { Reconciliation } from '../delivery/reconciliation.ts';
import type { Drivers } from '../driver/drivers.ts';
import type { PlaceWait } from '../engine/attempt/attempt-desk.ts';
import type { DisabledActions } from '../engine/attempt/disabled-actions.ts';
import type { BulkActions } from '../execution/bulk-actions.ts';
import type { DeadLetters } from '../execution/dead-letters.ts';
import type { Erasure } from '../execution/erasure.ts';
import type { ExecutionJournals } from '../execution/execution-journals.ts';
import type { ExecutionLists } from '../execution/execution-lists.ts';
import type { ExecutionQueries } from '../execution/execution-queries.ts';
import type { Executions } from '../execution/executions.ts';
import type { LiveBoard } from '../execution/live-board.ts';
import type { PlanRuns } from '../execution/plan-runs.ts';
import type { Lifecycles } from '../lifecycle/instance/lifecycles.ts';
import type { Quotas } from '../quota/quotas.ts';
import type { TableSecretsPort } from '../secret/secret.ts';
import type { Secrets } from '../secret/secrets.ts';
import type { Statistics } from '../statistics/statistics.ts';
import type { Store } from '../store/port.ts';
import type { TaskQueues } from '../task-queue/task-queues.ts';
import type { Health, HealthDeps } from '../telemetry/health.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { DocumentTemplates } from '../template/document-templates.ts';
import type { WorkflowTemplates } from '../template/workflow-templates.ts';
import type { Backfill } from '../trigger/backfill.ts';
import type { Intake } from '../trigger/intake.ts';
import type { Triggers } from '../trigger/triggers.ts';
import type { ReadRemotePlan } from '../workflow/plan-source.ts';
import type { ReferencedPlans } from '../workflow/referenced-plans.ts';
import type { Pipelines } from '../workflow/workflow-pipeline.ts';
import type { WorkflowQueries } from '../workflow/workflow-queries.ts';
import type { Workflows } from '../workflow/workflows.ts';
import type { AppObserver } from './app.ts';
import type { AuthOptions } from './auth/auth-options.ts';
import type { SignalThrottle, StartRates, WorkflowThrottle } from './rate-limit.ts';
import type { AnswerMcp } from './route/mcp-routes.ts';

export interface ServerParts {
  readonly store: Store;
  readonly executions: Executions;
  readonly queries: ExecutionQueries;
  readonly journals: ExecutionJournals;
  readonly lists: ExecutionLists;
  readonly board: LiveBoard;
  readonly statistics: Statistics;
  readonly bulk: BulkActions;
  readonly workflows: Workflows;
  readonly workflowQueries: WorkflowQueries;
  readonly pipelines: Pipelines;
  readonly documents: DocumentTemplates;
  readonly workflowTemplates: WorkflowTemplates;
  readonly triggers: Triggers;
  readonly intake: Intake;
  readonly backfill: Backfill;
  /** Whether the environment has a token for a connector of the tenant. */
  readonly hasToken: (tenantId: string, connectorId: string) => boolean;
  readonly runs: PlanRuns;
  readonly artifacts: Artifacts;
  /** Plans behind `https:` and `s3:` references. */
  readonly readRemote?: ReadRemotePlan;
  readonly taskQueues: TaskQueues;
  readonly deadLetters: DeadLetters;
  readonly quotas: Quotas;
  readonly erasure: Erasure;
  /** The digest of a plugin's module, or the problem of its manifest. */
  readonly readPlugin: (manifest: unknown, code: string) => { digest: string } | { problem: string };
  readonly lifecycles: Lifecycles;
  readonly consumers: Consumers;
  readonly deliveries: Deliveries;
  readonly reconciliation: Reconciliation;
  readonly notices: Notices;
  readonly metrics: Metrics;
  readonly connections: Connections;
  readonly authorization: Authorization;
  readonly tableSecrets: TableSecretsPort;
  readonly secrets: Secrets;
  readonly actionTypes: ReadonlySet<string>;
  readonly places?: HealthDeps['places'];
  /** For an execution in this process: its attempts that wait for a free place. */
  readonly placeWait?: (tenantId: string, executionId: string) => PlaceWait | null;
  readonly disabled: DisabledActions;
  readonly publicUrl: () => string;
  readonly drivers: Drivers;
  /** Absent: there is no `/mcp`. */
  readonly mcp?: AnswerMcp;
  /** The process is about to stop: it still serves, but is not ready. */
  readonly isStopping?: () => boolean;
}

export interface ServerOptions {
  readonly server: {
    readonly host: string;
    readonly port: number;
    readonly publicUrl?: string | undefined;
    readonly bodyLimitBytes: number;
    readonly shutdownMs: number;
    readonly databaseTimeoutMs: number;
    readonly planFolder?: string | undefined;
    readonly maxPlanBytes: number;
    readonly planCacheMs: number;
    readonly checkAnswers: boolean;
  };
  readonly auth: AuthOptions & { readonly requirePrincipalForExecute: boolean };
  readonly rateLimit: {
    readonly perTokenPerMinute: number;
    readonly perTokenBurst: number;
    readonly readsPerTokenPerMinute: number;
    readonly readsPerTokenBurst: number;
    readonly perTenantSignalsPerMinute: number;
  } & StartRates;
  readonly trigger: {
    readonly enableWebhooks: boolean;
    readonly enableEvents: boolean;
    readonly webhookBasePath: string;
  };
  readonly observer: AppObserver;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
}

/** The parts of the server, plus everything that is built once from parts and options for all routes. */
export interface RouteParts extends ServerParts {
  readonly options: RouteOptions;
  /** Of this package. */
  readonly version: string;
  /** This process's own address. */
  readonly ownUrl: () => string;
  readonly health: Health;
  /** Reads plans that a start names by reference. */
  readonly plans: ReferencedPlans;
  /** The address of webhooks; the trigger's id follows. */
  readonly webhookBase: () => string;
  /** Null: starts are not limited. */
  readonly throttle: WorkflowThrottle | null;
  /** Null: signals are not limited. */
  readonly signalThrottle: SignalThrottle | null;
}

export type RouteOptions = Pick<ServerOptions, 'server' | 'auth' | 'rateLimit' | 'trigger'>;
