// The route to a workflow: sending means starting it. The request id is made of the ackGuid, so a repeated send starts nothing
// new (I19). Accepted counts as Processed. A message that can never be accepted (no such workflow, a payload that the schema
// refuses) becomes a dead letter with its cause, and the messages after it go on (I20).

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

/** The same request is refused the same way until somebody changes something. */
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
