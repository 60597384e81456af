// The id of a run, as events, logs and traces name it: of an execution plan the id that its caller gave, otherwise that of the execution.

export function runIdOf(execution: {
  readonly executionId: string;
  readonly format: string;
  readonly requestId: string | null;
}): string {
  const { executionId, format, requestId } = execution;
  return format === 'plan' ? (requestId ?? executionId) : executionId;
}
