// The state of a stored execution, by the engine's own fold of its rows.

import type { ExecutionStart, State } from '../../src/core/decider/state.ts';
import type { Json } from '../../src/core/json/json.ts';
import type { Plan } from '../../src/core/plan/plan.ts';
import { foldStored } from '../../src/engine/turn/journal.ts';
import type { Tables } from './database/tables.ts';
import { compileText } from './definition.ts';

export function foldExecution(tables: Tables, executionId: string): State {
  const execution = tables.executions.get(executionId)!;
  return foldStored(planOf(tables, executionId), startOf(tables, executionId), {
    ...execution,
    checkpoint: null,
    journal: tables.events.get(executionId) ?? [],
    attempts: [...(tables.attempts.get(executionId)?.values() ?? [])],
    inbox: [],
  });
}

export function planOf(tables: Tables, executionId: string): Plan {
  const { tenantId, workflowId, version } = tables.executions.get(executionId)!;
  return compileText(tables.definitions.get(JSON.stringify([tenantId, workflowId]))![version - 1]!.definition);
}

export function startOf(tables: Tables, executionId: string): ExecutionStart {
  const execution = tables.executions.get(executionId)!;
  return {
    ...execution,
    trigger: JSON.parse(execution.trigger) as Json,
    spec: null,
    principal: JSON.parse(execution.principal) as Json,
    callbackUrls: {},
  };
}
