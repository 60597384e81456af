// `testWorkflow` runs a definition in a test, without a database. `core` actions without outside effects run for real.

import { coreActions } from '../action/core/core-actions.ts';
import type { TestedWorkflow } from '../testing/transcript.ts';
import { runWorkflowTest, type WorkflowTest } from '../testing/workflow-test.ts';

export function testWorkflow(definition: object, test: WorkflowTest = {}): Promise<TestedWorkflow> {
  return runWorkflowTest(definition, test, coreActions());
}
