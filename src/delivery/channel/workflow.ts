// The route to a workflow: sending is starting it. The request id is made of the ackGuid, so that sending again starts nothing
// new (I19); accepted is processed. What will never be accepted (no such workflow, a payload that its schema refuses) is the
// failure of this message: it goes to the dead letters with its cause, and the messages after it go on (I20).

import { PawlError } from '../../core/error/pawl-error.ts';
import type { Json, JsonObject } from '../../core/json/json.ts';
import type { ClaimedDelivery } from '../../store/delivery-port.ts';
import { type Channel, PROCESSED, type Sent } from './channel.ts';

export interface WorkflowStart {
  readonly tenantId: string;
  readonly workflowId: string;
  readonly requestId: string;
  /** The whole work event. */
  readonly trigger: JsonObject;
}

export type StartWorkflow = (start: WorkflowStart) => Promise<unknown>;

/** The same request will be refused in the same way until somebody changes something. */
const FINAL = new Set([
  'WORKFLOW_NOT_FOUND',
  'WORKFLOW_NOT_ACTIVE',
  'WORKFLOW_DISABLED',
  'TRIGGER_INVALID',
  'REQUEST_INVALID',
  'WFENG001',
  'PAYLOAD_TOO_LARGE',
]);

export class WorkflowChannel implements Channel {
  private readonly startWorkflow: StartWorkflow;

  constructor(startWorkflow: StartWorkflow) {
    this.startWorkflow = startWorkflow;
  }

  async send({ ackGuid, tenantId, body }: ClaimedDelivery): Promise<Sent> {
    const trigger = JSON.parse(body) as JsonObject;
    const { workflow } = trigger as { workflow?: Json };
    if (typeof workflow !== 'string') return refused('the message names no workflow');
    try {
      await this.startWorkflow({ tenantId, workflowId: workflow, requestId: `lifecycle:${ackGuid}`, trigger });
      return PROCESSED;
    } catch (error) {
      if (error instanceof PawlError && FINAL.has(error.code)) return refused(`${error.code}: ${error.message}`);
      throw error;
    }
  }
}

const refused = (message: string): Sent => ({
  stage: 'Processed',
  outcome: 'failed',
  message,
  retryAt: null,
  result: null,
});
