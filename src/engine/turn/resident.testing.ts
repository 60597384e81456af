// A resident that has not begun, for tests of the parts that hold residents.

import { buildPlan, START } from '../../core/decider/plan-builder.testing.ts';
import { initialState } from '../../core/decider/state.ts';
import type { LoadedExecution } from '../../store/port.ts';
import { Resident } from './resident.ts';

export function testResident(executionId: string): Resident {
  const plan = buildPlan({ format: 'graph', nodes: [{ id: 'a' }] });
  const execution = { executionId, trigger: '{}', checkpoint: null, journal: [], attempts: [], inbox: [] };
  return new Resident({
    execution: execution as unknown as LoadedExecution,
    state: initialState(plan, { ...START, executionId }),
    claim: { crashes: 0, epoch: 1 },
    waiting: [],
    given: new Map(),
  });
}
