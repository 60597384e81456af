// A checked definition as the store keeps it.

import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../core/json/json.ts';
import { sha256Hex } from '../core/plan/checksum.ts';
import type { NewDefinition, NewPipeline, PipelineTrigger } from '../store/workflow-port.ts';
import type { CheckedDefinition } from './workflow-check.ts';

/** The checksum covers the whole definition, so a new description is a new version too. A plan's creation time is left out. */
export function storedDefinition(
  tenantId: string,
  definition: Json,
  { format, plan }: CheckedDefinition,
): NewDefinition {
  const kept = withoutSecret(definition as JsonObject);
  const { displayName, description } = kept;
  return {
    tenantId,
    workflowId: plan.id,
    displayName: typeof displayName === 'string' ? displayName : plan.id,
    description: typeof description === 'string' ? description : null,
    format,
    definition: JSON.stringify(kept),
    checksum: sha256Hex(canonicalJson(format === 'plan' ? withoutTime(kept) : kept)),
  };
}

/** A planner that writes the same plan again writes another time. That is not another version. */
function withoutTime(plan: JsonObject): JsonObject {
  const { createdAt: _time, ...metadata } = plan.metadata as JsonObject;
  return { ...plan, metadata };
}

/** A webhook's secret is stored with its trigger, because many may read a definition (S6). */
function withoutSecret(definition: JsonObject): JsonObject {
  if (!isJsonObject(definition.webhook) || !('secret' in definition.webhook)) return definition;
  const { secret: _apart, ...webhook } = definition.webhook;
  return { ...definition, webhook };
}

export function pipelineOf(definition: Json, stored: NewDefinition): NewPipeline {
  const { trigger, cron_expression: cron, timezone, catch_up: catchUp, enabled, tasks } = definition as JsonObject;
  const { payload } = definition as JsonObject;
  const { secret, ...webhook } = ((definition as JsonObject).webhook ?? {}) as JsonObject;
  return {
    ...stored,
    trigger: {
      type: (trigger ?? 'api') as PipelineTrigger['type'],
      cronExpression: typeof cron === 'string' ? cron : null,
    },
    schedule: {
      ...(typeof timezone === 'string' ? { timezone } : {}),
      ...(typeof catchUp === 'string' ? { catchUp } : {}),
      ...(payload === undefined || payload === null ? {} : { payload }),
    },
    webhook,
    webhookSecret: typeof secret === 'string' ? secret : null,
    taskCount: Object.keys(tasks as JsonObject).length,
    isEnabled: typeof enabled === 'boolean' ? enabled : null,
  };
}
