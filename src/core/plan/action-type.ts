// The name of a step in lists and logs: the type of its action, or a name for a step of the engine itself. Pure.

import type { Step } from './plan.ts';

export function actionTypeOf(step: Step): string {
  switch (step.kind) {
    case 'action':
      return step.actionType;
    case 'subworkflow':
      return `subworkflow:${step.workflowId}`;
    case 'sleep':
      return 'core.delay';
    case 'webhook':
      return 'wait_for_webhook';
    case 'wait':
      return 'wait';
    case 'end':
      return 'end';
    case 'forEach':
    case 'repeat':
      return step.body.isSingle ? actionTypeOf(step.body.nodes[0]!.step) : step.kind;
  }
}
