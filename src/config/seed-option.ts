// The options of the specification behind Pawl, with their names here or the reason for their absence.

export interface SeedOption {
  readonly name: string;
  /** Our option, as section.option, or a sentence that says why there is none. */
  readonly here: string;
}

export const SEED_OPTIONS: readonly SeedOption[] = [
  { name: 'TemplateEngineOptions.RenderTimeout', here: 'templates.timeoutMs' },
  { name: 'TemplateEngineOptions.NullValueReplacement', here: 'templates.nullText' },
  { name: 'TemplateEngineOptions.StrictMode', here: 'templates.strict' },
  { name: 'TemplateEngineOptions.EnableLoops', here: 'templates.allowLoops' },
  { name: 'TemplateEngineOptions.EnableFunctions', here: 'a fixed table of pure functions, the same everywhere' },
  { name: 'JintConditionEvaluatorOptions.ScriptTimeout', here: 'expression.maxSteps' },
  { name: 'JintConditionEvaluatorOptions.MaxStatements', here: 'expression.maxSteps' },
  { name: 'JintConditionEvaluatorOptions.MemoryLimitBytes', here: 'expression.maxBytes' },
  { name: 'JintConditionEvaluatorOptions.MaxRecursionDepth', here: 'expression.maxDepth' },
  { name: 'ContextSnapshotOptions.Mode', here: 'definition.snapshotMode' },
  { name: 'ContextSnapshotOptions.KeysToInclude', here: 'definition.snapshotKeys' },
  { name: 'ContextSnapshotOptions.MaxContextSizeBytes', here: 'definition.maxContextSizeBytes' },
  { name: 'ContextSnapshotOptions.OverflowBehavior', here: 'definition.overflowBehavior' },
  { name: 'OrchestrationOptions.MaxParallelActions', here: 'engine.maxParallelActions' },
  { name: 'OrchestrationOptions.DefaultActionTimeout', here: 'definition.actionTimeoutMs' },
  { name: 'OrchestrationOptions.DefaultWorkflowTimeout', here: 'definition.workflowTimeoutMs' },
  { name: 'OrchestrationOptions.RetryPolicy', here: 'definition.retryPolicies' },
  { name: 'RetryPolicyOptions.MaxRetryAttempts', here: 'definition.retryMaxAttempts' },
  { name: 'RetryPolicyOptions.InitialDelay', here: 'definition.retryInitialDelayMs' },
  { name: 'RetryPolicyOptions.BackoffFactor', here: 'definition.retryBackoffFactor' },
  { name: 'RetryPolicyOptions.Jitter', here: 'definition.retryJitter' },
  { name: 'ErrorHandlingOptions.UseDeadLetterQueue', here: 'engine.deadLetters' },
  { name: 'ErrorHandlingOptions.DeadLetterQueueName', here: 'dead letters are a table of the database' },
  { name: 'ErrorHandlingOptions.MaxPoisonMessageRetries', here: 'engine.maxPoisonRetries' },
  { name: 'ErrorHandlingOptions.PoisonMessageDelay', here: 'engine.poisonDelayMs' },
  { name: 'ScalabilityOptions.MaxNodesPerWorkflow', here: 'definition.maxNodes' },
  { name: 'ScalabilityOptions.MaxContextSizeBytes', here: 'definition.maxContextSizeBytes' },
  { name: 'ScalabilityOptions.EnableDistributedLocking', here: 'ownership is a lease and a fence in the database' },
  { name: 'ScalabilityOptions.RedisConnectionString', here: 'there is no Redis' },
  { name: 'WorkflowCatalogOptions.AutoRegisterActionsOnStartup', here: 'catalog.autoRegisterActions' },
  {
    name: 'WorkflowCatalogOptions.ValidateActionSchemasOnStartup',
    here: 'always: an action without a schema does not load',
  },
  { name: 'WorkflowCatalogOptions.AllowDraftExecution', here: 'catalog.allowDraftExecution' },
  { name: 'SubworkflowOptions.MaxNestingDepth', here: 'engine.maxNestingDepth' },
  { name: 'SubworkflowOptions.AllowRecursion', here: 'engine.allowRecursion' },
  { name: 'SubworkflowOptions.DefaultChildTimeout', here: 'definition.childTimeoutMs' },
  { name: 'TriggerOptions.EnableWebhooks', here: 'trigger.enableWebhooks' },
  { name: 'TriggerOptions.EnableSchedules', here: 'trigger.enableSchedules' },
  { name: 'TriggerOptions.EnableEvents', here: 'trigger.enableEvents' },
  { name: 'TriggerOptions.WebhookBasePath', here: 'trigger.webhookBasePath' },
  { name: 'TriggerOptions.SchedulerProvider', here: 'schedules are our own, in the database' },
  { name: 'AuthOptions.AllowLooseAuth', here: 'auth.allowLooseAuth' },
  { name: 'AuthOptions.RequirePrincipalForExecute', here: 'auth.requirePrincipalForExecute' },
  { name: 'AuthOptions.ValidateDownstreamPermissions', here: 'auth.validateDownstreamPermissions' },
];
