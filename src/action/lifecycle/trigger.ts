// lifecycle.trigger: fires an event of a business object from a workflow. The request id is the node's idempotency key, the same
// for every attempt (I7): the event is applied once, however often the node is tried. An event that the state does not allow
// fails the node, because a retry would not change it; a failure edge can handle it.

import { z } from 'zod';
import { TerminalError } from '../../core/error/error.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import type { Json } from '../../core/json/json.ts';
import { type ActionContext, defineAction } from '../action.ts';

export interface LifecycleTrigger {
  readonly env: string;
  readonly definition: string;
  readonly externalRef: string;
  readonly event: string | number;
  readonly requestId: string;
  readonly actor?: string | undefined;
  readonly payload?: Json | undefined;
}

export interface LifecycleAnswer {
  readonly applied: boolean;
  readonly instanceId: string;
  readonly from: string;
  readonly to: string;
  readonly notice?: string | undefined;
}

export type TriggerLifecycle = (
  tenantId: string,
  trigger: LifecycleTrigger,
  cause: { readonly type: 'workflow'; readonly executionId: string; readonly nodeId: string },
) => Promise<LifecycleAnswer>;

const params = z.object({
  env: z.string().min(1),
  definition: z.string().min(1).describe('name of the lifecycle'),
  externalRef: z.string().min(1).describe('which business object: the name your application gave it'),
  event: z.union([z.string().min(1), z.number().int()]).describe('name, id or code'),
  actor: z.string().optional().describe('by default the principal of the execution'),
  payload: z.json().optional(),
});

const outputs = z.object({
  applied: z.boolean(),
  instanceId: z.string(),
  from: z.string(),
  to: z.string(),
  notice: z.string().optional(),
});

/** Failures that a retry cannot change. */
const FINAL: ReadonlySet<string> = new Set(['TRANSITION_REJECTED', 'LIFECYCLE_NOT_FOUND', 'REQUEST_INVALID']);

export const triggerAction = (trigger: TriggerLifecycle) =>
  defineAction({
    type: 'lifecycle.trigger',
    version: '1.0.0',
    connector: 'lifecycle',
    category: 'Lifecycle',
    displayName: 'Trigger a lifecycle event',
    description: 'Fires an event of a business object that is kept in a lifecycle.',
    params,
    outputs,
    async run({ actor, ...request }, context) {
      const { executionId, nodeId, tenantId, idempotencyKey: requestId, principal } = context;
      const fired = { ...request, payload: request.payload as Json, requestId, actor: actor ?? principal.userId };
      const cause = { type: 'workflow', executionId, nodeId } as const;
      const { applied, instanceId, from, to, notice } = await trigger(tenantId, fired, cause).catch(refuse);
      say(context, fired, notice);
      return { outputs: { applied, instanceId, from, to, ...(notice === undefined ? {} : { notice }) } };
    },
  });

function refuse(error: unknown): never {
  if (error instanceof PawlError && FINAL.has(error.code)) throw new TerminalError(error.code, error.message);
  throw error;
}

function say({ log }: ActionContext, { event, externalRef }: LifecycleTrigger, notice: string | undefined): void {
  if (notice !== undefined) log.info(`event ${event} changed nothing`, { externalRef, notice });
}
