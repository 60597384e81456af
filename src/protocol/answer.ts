// The shapes of the HTTP API as types for clients, inferred from the schemas that the server checks.

import type { z } from 'zod';
import type { auditEntrySchema, auditVerifyAnswer, tenantSchema } from './audit.ts';
import type {
  authorizeAnswer,
  connectionCheckAnswer,
  connectionRequest,
  connectionSchema,
  secretSchema,
} from './connection.ts';
import type {
  reconcileAnswer,
  runDebugSchema,
  runInspectionSchema,
  startRunAnswer,
  startRunRequest,
  stepLogsSchema,
} from './engine-run.ts';
import type { errorEnvelopeSchema } from './error.ts';
import type {
  acceptedAnswer,
  executeAnswer,
  executeRequest,
  executionWithIncludesSchema,
  retryAnswer,
} from './execution.ts';
import type {
  actionPatch,
  actionSchema,
  connectorSchema,
  deadLetterSchema,
  detailedHealthSchema,
  healthSchema,
  readinessSchema,
  runnerSchema,
} from './operation.ts';
import type {
  pipelineDefinitionSchema,
  pipelineSchema,
  runDetailSchema,
  runSchema,
  runStartedSchema,
} from './pipeline.ts';
import type { signalAnswer, signalRequest } from './signal.ts';
import type {
  documentRequest,
  documentSchema,
  documentSummarySchema,
  renderAnswer,
  renderRequest,
  setRequest,
  setSchema,
} from './template.ts';
import type {
  instantiateAnswer,
  instantiateRequest,
  workflowTemplateContent,
  workflowTemplateRequest,
  workflowTemplateSchema,
  workflowTemplateSummarySchema,
} from './template-workflow.ts';
import type {
  backfillAnswer,
  backfillRequest,
  eventAnswer,
  eventRequest,
  firingAnswer,
  firingSchema,
  secretRotateRequest,
  testAnswer,
  triggerCreateRequest,
  triggerSchema,
  triggerUpdateRequest,
} from './trigger.ts';
import type {
  diffSchema,
  publicationSchema,
  validationSchema,
  versionSchema,
  workflowSchema,
  workflowStateSchema,
} from './workflow.ts';

export type ConnectionRequest = z.input<typeof connectionRequest>;
export type ConnectionJson = z.infer<typeof connectionSchema>;
export type ConnectionCheckJson = z.infer<typeof connectionCheckAnswer>;
export type ConnectionAuthorizeJson = z.infer<typeof authorizeAnswer>;
export type SecretJson = z.infer<typeof secretSchema>;

export interface Page<Item> {
  readonly data: Item[];
  /** Absent: there are no more. */
  readonly nextCursor?: string | undefined;
}

export type ApiError = z.infer<typeof errorEnvelopeSchema>['error'];

export type WorkflowJson = z.infer<typeof workflowSchema>;
export type WorkflowStateJson = z.infer<typeof workflowStateSchema>;
export type PublicationJson = z.infer<typeof publicationSchema>;
export type VersionJson = z.infer<typeof versionSchema>;
export type ValidationJson = z.infer<typeof validationSchema>;
export type DiffJson = z.infer<typeof diffSchema>;

export type PipelineJson = z.infer<typeof pipelineSchema>;
export type PipelineWithTasksJson = z.infer<typeof pipelineDefinitionSchema>;
export type RunStartedJson = z.infer<typeof runStartedSchema>;
export type RunJson = z.infer<typeof runSchema>;
export type RunDetailJson = z.infer<typeof runDetailSchema>;

export type ExecuteRequest = z.input<typeof executeRequest>;
export type ExecuteAnswer = z.infer<typeof executeAnswer>;
export type ExecutionWithIncludesJson = z.infer<typeof executionWithIncludesSchema>;
export type AcceptedJson = z.infer<typeof acceptedAnswer>;
export type RetryJson = z.infer<typeof retryAnswer>;
export type SignalRequest = z.input<typeof signalRequest>;
export type SignalJson = z.infer<typeof signalAnswer>;

export type TriggerJson = z.infer<typeof triggerSchema>;
export type TriggerCreateRequest = z.input<typeof triggerCreateRequest>;
export type TriggerUpdateRequest = z.input<typeof triggerUpdateRequest>;
export type SecretRotateRequest = z.input<typeof secretRotateRequest>;
export type FiringJson = z.infer<typeof firingSchema>;
export type BackfillRequest = z.input<typeof backfillRequest>;
export type BackfillAnswerJson = z.infer<typeof backfillAnswer>;
export type FiringAnswerJson = z.infer<typeof firingAnswer>;
export type WebhookTestAnswerJson = z.infer<typeof testAnswer>;
export type EventRequest = z.input<typeof eventRequest>;
export type EventAnswerJson = z.infer<typeof eventAnswer>;

export type ConnectorJson = z.infer<typeof connectorSchema>;
export type ActionJson = z.infer<typeof actionSchema>;
export type ActionPatch = z.input<typeof actionPatch>;

export type DeadLetterJson = z.infer<typeof deadLetterSchema>;
export type RunnerJson = z.infer<typeof runnerSchema>;

export type StartRunRequest = z.input<typeof startRunRequest>;
export type StartRunJson = z.infer<typeof startRunAnswer>;
export type ReconcileJson = z.infer<typeof reconcileAnswer>;
export type RunDebugJson = z.infer<typeof runDebugSchema>;
export type StepLogsJson = z.infer<typeof stepLogsSchema>;

export type RunInspectionJson = z.infer<typeof runInspectionSchema>;

export type AuditEntryJson = z.infer<typeof auditEntrySchema>;
export type AuditVerificationJson = z.infer<typeof auditVerifyAnswer>;
export type TenantJson = z.infer<typeof tenantSchema>;

export type ReadinessJson = z.infer<typeof readinessSchema>;
export type EngineHealthJson = z.infer<typeof healthSchema>;
export type EngineHealthDetailedJson = z.infer<typeof detailedHealthSchema>;

export type TemplateSetJson = z.infer<typeof setSchema>;
export type TemplateSetRequest = z.input<typeof setRequest>;
export type DocumentSummaryJson = z.infer<typeof documentSummarySchema>;
export type DocumentTemplateJson = z.infer<typeof documentSchema>;
export type DocumentRequest = z.input<typeof documentRequest>;
export type RenderRequest = z.input<typeof renderRequest>;
export type RenderJson = z.infer<typeof renderAnswer>;

export type WorkflowTemplateSummaryJson = z.infer<typeof workflowTemplateSummarySchema>;
export type WorkflowTemplateJson = z.infer<typeof workflowTemplateSchema>;
export type WorkflowTemplateRequest = z.input<typeof workflowTemplateRequest>;
export type WorkflowTemplateContent = z.input<typeof workflowTemplateContent>;
export type InstantiateRequest = z.input<typeof instantiateRequest>;
export type InstantiateJson = z.infer<typeof instantiateAnswer>;
