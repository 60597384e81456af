// What a program imports from `pawl`.

export type { ActionContext, ActionDefinition, ActionResult } from './action/action.ts';
export { defineAction } from './action/action.ts';
export { guardedFetch } from './action/guarded-fetch.ts';
export { passThroughHeaders } from './action/pass-through.ts';
export { errorOfAnswer, readAnswer, requireToken } from './action/remote-failure.ts';
export { loadUserActions } from './action/user/user-actions.ts';
export type { ExecutionResult, Pawl, PawlOptions } from './app/create-pawl.ts';
export { createPawl, createWorker, startInTransaction } from './app/create-pawl.ts';
export { setUpTemporal } from './app/driving.ts';
export { testWorkflow } from './app/workflow-test.ts';
export type { ConfigInput } from './config/config.ts';
export { RetryableError, TerminalError } from './core/error/error.ts';
export { PawlError } from './core/error/pawl-error.ts';
export type { Handler, HandlerAnswer, Work } from './delivery/channel/process.ts';
export { startEmbedded } from './store/embedded/embedded.ts';
export { migrateDown, migrateUp, migrationStatus } from './store/migrate/migrate.ts';
export { inspectDatabase } from './store/postgres/database-inspection.ts';
export { connectionProblem, TOO_MANY_ADVICE } from './store/postgres/sqlstate.ts';
export type { Pin, PinFunction, Pinned } from './testing/pin.ts';
export type { TestedNode, TestedWorkflow } from './testing/transcript.ts';
export type { WorkflowTest } from './testing/workflow-test.ts';
