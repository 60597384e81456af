// The one registry of stable error codes: the meaning of each in a sentence, and its HTTP status. Codes are part of the contract
// with clients: add, never rename. A code that only stands inside an execution (an attempt's failure) has the status an API would
// use if it reported the code on its own.

export interface CodeEntry {
  readonly message: string;
  readonly httpStatus: number;
  /** The name of a code that is only a number. */
  readonly name?: string;
}

export const ERROR_CODES = {
  // Codes that other systems depend on, never renamed.
  WFENG001: {
    message: 'The requestId was already used for another workflow.',
    httpStatus: 409,
    name: 'REQUEST_ID_CONFLICT_OTHER_WORKFLOW',
  },
  WFENG002: {
    message: 'The execution is in a state that does not allow this.',
    httpStatus: 409,
    name: 'ILLEGAL_STATE_TRANSITION',
  },
  WFENG003: {
    message: 'The external resource is already linked to another execution.',
    httpStatus: 409,
    name: 'RESOURCE_LINK_CONFLICT_OTHER_EXECUTION',
  },
  WFENG004: { message: 'The document template does not exist.', httpStatus: 404, name: 'TEMPLATE_NOT_FOUND' },
  WFENG005: { message: 'The definition is not valid.', httpStatus: 400, name: 'VALIDATION_ERROR' },

  // Workflows and executions.
  WORKFLOW_NOT_FOUND: { message: 'The workflow or this version of it does not exist.', httpStatus: 404 },
  WORKFLOW_NOT_ACTIVE: { message: 'The workflow is not active.', httpStatus: 409 },
  WORKFLOW_DISABLED: { message: 'The workflow is disabled.', httpStatus: 409 },
  WORKFLOW_EXISTS: { message: 'A workflow with this name already exists.', httpStatus: 409 },
  WORKFLOW_STATE: { message: 'The workflow is in a state that does not allow this.', httpStatus: 409 },
  WORKFLOW_IMMUTABLE: { message: 'A published workflow is changed through a draft.', httpStatus: 400 },
  TRIGGER_INVALID: {
    message: 'The trigger payload does not match the triggerSchema of the workflow.',
    httpStatus: 400,
  },
  TRIGGER_NOT_FOUND: { message: 'The trigger does not exist.', httpStatus: 404 },
  SIGNATURE_INVALID: { message: 'The signature of the webhook is not valid.', httpStatus: 401 },
  SIGNATURE_EXPIRED: { message: 'The signature of the webhook is too old.', httpStatus: 401 },
  EXECUTION_NOT_FOUND: { message: 'The execution does not exist.', httpStatus: 404 },
  DRAFT_CHANGED: { message: 'The draft was changed by somebody else in the meantime.', httpStatus: 412 },
  BULK_NOT_FOUND: { message: 'The bulk action does not exist.', httpStatus: 404 },
  KEY_NOT_FOUND: { message: 'The API key does not exist or is already revoked.', httpStatus: 404 },
  NODE_NOT_FOUND: { message: 'The execution has no such node.', httpStatus: 404 },
  EXECUTION_TIMEOUT: { message: 'The execution did not finish within its timeout.', httpStatus: 504 },
  CANCELLED: { message: 'The execution was cancelled.', httpStatus: 409 },
  CONTEXT_OVERFLOW: { message: 'The data of the execution exceeds maxContextSizeBytes.', httpStatus: 413 },
  CHILD_FAILED: { message: 'The subworkflow did not succeed.', httpStatus: 422 },
  WEBHOOK_TIMEOUT: { message: 'The webhook did not arrive in time.', httpStatus: 504 },
  NESTING_TOO_DEEP: { message: 'Subworkflows are nested too deeply.', httpStatus: 422 },
  RECURSION: { message: 'A workflow must not start itself as its own subworkflow.', httpStatus: 422 },
  DRIVER_NOT_CONFIGURED: { message: 'The requested driver is not configured in this installation.', httpStatus: 400 },
  UNSUPPORTED_BY_ENGINE: { message: 'The chosen engine cannot run this plan.', httpStatus: 400 },
  ENGINE_UNAVAILABLE: { message: 'The engine of this workflow does not accept runs at the moment.', httpStatus: 503 },
  RUN_REFUSED: { message: 'The engine refused to run the execution.', httpStatus: 502 },
  RUN_LOST: { message: 'The engine no longer knows the run of this execution.', httpStatus: 502 },
  RUN_NAME_TAKEN: { message: 'The engine already uses the name of this run for something else.', httpStatus: 409 },
  TASK_QUEUE_NOT_FOUND: { message: 'This is not a valid name for a task queue.', httpStatus: 404 },
  TASK_LEASE_LOST: { message: 'The worker no longer holds the lease of this attempt.', httpStatus: 409 },
  TASK_UNSTORABLE: { message: 'The attempt cannot be stored for a worker.', httpStatus: 422 },
  WORKER_LOST: { message: 'Every worker that took the attempt disappeared.', httpStatus: 502 },
  POISON: { message: 'The execution crashed its runner repeatedly and was set aside.', httpStatus: 500 },

  // Lifecycles and delivery.
  LIFECYCLE_NOT_FOUND: { message: 'The lifecycle or this version of it does not exist.', httpStatus: 404 },
  LIFECYCLE_INVALID: { message: 'The lifecycle or its policies are not valid.', httpStatus: 400 },
  INSTANCE_NOT_FOUND: { message: 'The lifecycle has no such instance.', httpStatus: 404 },
  TRANSITION_REJECTED: { message: 'The current state does not allow this event.', httpStatus: 409 },
  CONSUMER_NOT_FOUND: { message: 'The consumer does not exist.', httpStatus: 404 },
  DELIVERY_NOT_FOUND: { message: 'There is no such delivery to this consumer.', httpStatus: 404 },

  // Requests.
  REQUEST_INVALID: { message: 'The request is not valid.', httpStatus: 400 },
  UNAUTHENTICATED: { message: 'A valid token or API key is needed.', httpStatus: 401 },
  FORBIDDEN: { message: 'The token does not allow this.', httpStatus: 403 },
  TENANT_MISMATCH: { message: 'The tenantId of the request is not the tenant of the token.', httpStatus: 403 },
  NOT_FOUND: { message: 'There is nothing at this address.', httpStatus: 404 },
  WRONG_KIND: { message: 'This kind of resource does not support the operation.', httpStatus: 409 },
  METHOD_NOT_ALLOWED: { message: 'This address does not support this method.', httpStatus: 405 },
  PAYLOAD_TOO_LARGE: { message: 'The body of the request exceeds the size limit.', httpStatus: 413 },
  ANSWER_TOO_LARGE: { message: 'The answer would be too large.', httpStatus: 422 },
  REQUEST_TIMEOUT: { message: 'The request was not received completely in time.', httpStatus: 408 },
  UNSUPPORTED_MEDIA_TYPE: { message: 'The body of the request must be application/json.', httpStatus: 415 },
  RATE_LIMITED: { message: 'Too many requests.', httpStatus: 429 },
  QUOTA_EXHAUSTED: { message: 'The tenant has used up its quota for now.', httpStatus: 429 },
  QUOTA_EXCEEDED: { message: 'The quota of the tenant does not allow this.', httpStatus: 403 },
  TENANT_NOT_FOUND: { message: 'The tenant does not exist.', httpStatus: 404 },
  INTERNAL_ERROR: { message: 'Something went wrong on our side.', httpStatus: 500 },
  UNAVAILABLE: { message: 'The service is temporarily unavailable.', httpStatus: 503 },
  CALLBACK_NOT_FOUND: { message: 'No execution waits for this callback.', httpStatus: 404 },
  CALLBACK_GONE: { message: 'The execution no longer waits for this callback.', httpStatus: 410 },
  CONNECTOR_NOT_FOUND: { message: 'The connector does not exist.', httpStatus: 404 },
  DEAD_LETTER_NOT_FOUND: { message: 'The dead letter does not exist.', httpStatus: 404 },
  RUNNER_NOT_FOUND: { message: 'No such runner is live.', httpStatus: 404 },
  ARTIFACT_NOT_FOUND: { message: 'The artifact does not exist, or has expired.', httpStatus: 404 },
  ARTIFACT_GONE: { message: 'The bytes of the artifact are gone.', httpStatus: 410 },
  ARTIFACT_DIGEST_MISMATCH: { message: 'The bytes of the artifact are not those that were written.', httpStatus: 410 },
  ARTIFACT_STORE_MISSING: { message: 'No artifact store is configured.', httpStatus: 503 },
  PLUGIN_EXISTS: { message: 'This version of the plugin has other code.', httpStatus: 409 },
  PLAN_UNAVAILABLE: { message: 'The referenced plan could not be read.', httpStatus: 422 },

  // Expressions and templates.
  TEMPLATE_ERROR: { message: 'A template could not be rendered.', httpStatus: 422 },
  TEMPLATE_TIMEOUT: { message: 'A document took too long to render.', httpStatus: 422 },
  TEMPLATE_AMBIGUOUS: { message: 'Several sets have a document template with this id.', httpStatus: 409 },
  TEMPLATE_SET_NOT_FOUND: { message: 'The set of document templates does not exist.', httpStatus: 404 },
  WORKFLOW_TEMPLATE_NOT_FOUND: { message: 'The workflow template does not exist.', httpStatus: 404 },
  WORKFLOW_TEMPLATE_EXISTS: { message: 'A workflow template with this id already exists.', httpStatus: 409 },
  EVALUATION_ERROR: { message: 'An expression could not be evaluated.', httpStatus: 422 },
  BUDGET_EXCEEDED: { message: 'An expression exceeded its budget.', httpStatus: 422 },

  // Attempts.
  ACTION_NOT_FOUND: { message: 'No action of this type is registered.', httpStatus: 404 },
  ACTION_FAILED: { message: 'The action failed.', httpStatus: 500 },
  ACTION_RESULT_INVALID: { message: 'The action did not return a valid result.', httpStatus: 500 },
  PARAMETERS_INVALID: { message: 'The parameters do not match the schema of the action.', httpStatus: 400 },
  PARAMETERS_TOO_LARGE: { message: 'The rendered parameters exceed the size limit.', httpStatus: 413 },
  ATTEMPT_TIMEOUT: { message: 'The attempt did not finish within its timeout.', httpStatus: 504 },
  OUTPUT_NOT_JSON: { message: 'The outputs of the action cannot be written as JSON.', httpStatus: 500 },
  OUTPUT_TOO_LARGE: { message: 'The outputs of the action exceed the size limit.', httpStatus: 413 },

  // Loops.
  NOT_A_LIST: { message: 'The items of the loop are not a list.', httpStatus: 422 },
  TOO_MANY_ITEMS: { message: 'There are more items than the loop allows.', httpStatus: 422 },
  ITEMS_FAILED: { message: 'More items failed than the loop tolerates.', httpStatus: 422 },
  REPEAT_EXHAUSTED: { message: 'The condition did not hold after the last round.', httpStatus: 422 },

  // Secrets and connections.
  CONNECTION_NOT_FOUND: { message: 'The connection does not exist.', httpStatus: 404 },
  CONNECTION_EXISTS: { message: 'A connection with this name already exists.', httpStatus: 409 },
  CONNECTION_CHANGED: { message: 'The connection was changed by somebody else.', httpStatus: 409 },
  CONNECTION_HOST_REFUSED: { message: 'The connection may not be used for this host.', httpStatus: 403 },
  SECRET_NOT_FOUND: { message: 'The secret does not exist.', httpStatus: 404 },
  SECRETS_UNAVAILABLE: { message: 'The secret cannot be read at the moment.', httpStatus: 503 },
  CREDENTIAL_UNAVAILABLE: { message: 'The credential cannot be read at the moment.', httpStatus: 503 },

  // Waits.
  WAIT_TIMEOUT: { message: 'The awaited event did not arrive in time.', httpStatus: 504 },
  TOO_MANY_EVENTS: { message: 'The wait collected more events than allowed.', httpStatus: 422 },

  // Undoing.
  COMPENSATION_FAILED: { message: 'The compensation of a step failed.', httpStatus: 500 },

  // Connectors.
  CREDENTIAL_MISSING: { message: 'No credential is configured for the connector.', httpStatus: 500 },
  CONNECTOR_NOT_CONFIGURED: { message: 'A setting of the connector is missing.', httpStatus: 500 },
  CREDENTIAL_REFUSED: { message: 'The other system rejected the credential.', httpStatus: 502 },
  RESOURCE_NOT_FOUND: { message: 'The resource does not exist in the other system.', httpStatus: 404 },
  RESOURCE_CONFLICT: { message: 'The resource conflicts with an existing one in the other system.', httpStatus: 409 },
  REQUEST_REFUSED: { message: 'The other system rejected the request.', httpStatus: 422 },
  REMOTE_FAILED: { message: 'The other system failed.', httpStatus: 502 },

  // Outbound HTTP.
  SSRF_BLOCKED: { message: 'Requests to this address are not allowed.', httpStatus: 403 },
  HTTP_STATUS: { message: 'The server answered with a status that counts as a failure.', httpStatus: 502 },
  HTTP_TIMEOUT: { message: 'The server did not answer in time.', httpStatus: 504 },
  NETWORK_ERROR: { message: 'The server could not be reached, or the connection broke.', httpStatus: 502 },
  RESPONSE_TOO_LARGE: { message: 'The response exceeds the size limit.', httpStatus: 502 },
  RESPONSE_INVALID: { message: 'The response does not match its content type.', httpStatus: 502 },
  TOO_MANY_REDIRECTS: { message: 'The server redirected too many times.', httpStatus: 502 },
} as const satisfies Record<string, CodeEntry>;

export type ErrorCode = keyof typeof ERROR_CODES;
