// Lifecycles on the wire: machines, triggers, instances and their timeline. camelCase, times in ISO 8601 UTC, absent
// rather than null.

import { z } from 'zod';
import { lifecycleName } from '../lifecycle/machine/definition-schema.ts';
import { machineShape, policiesShape } from './definition.ts';
import { executionId, label, tenantId, timestamp } from './identifier.ts';
import { cursorOf, numberCursor, pageQuery, queryNumber } from './page.ts';

/** A client cannot put "." or ".." into a URL. */
const externalRef = label(255).regex(/^(?:[^.]|\.[^.]|\.\..)/s, 'must not be "." or ".."');
const json = z.record(z.string(), z.unknown());
const problem = z.object({
  code: z.string(),
  path: z.string(),
  message: z.string(),
  suggestion: z.string().optional(),
});

export const lifecycleParams = z.object({ env: lifecycleName, name: lifecycleName });
export const instanceParams = lifecycleParams.extend({ externalRef });

export const lifecycleImportRequest = z
  .strictObject({
    definition: json.describe('states, events, transitions and timeouts: see /schemas/lifecycle.schema.json'),
    policies: json.nullable().optional().describe('what is sent to whom: see /schemas/policies.schema.json'),
    tenantId: tenantId.optional(),
  })
  .meta({ id: 'LifecycleImportRequest' });

/** As the API describes it. The compiler checks it. */
export const lifecycleImportShape = z.strictObject({
  definition: machineShape,
  policies: policiesShape.nullable().optional(),
  tenantId: tenantId.nullable().optional(),
});

export const lifecycleImportAnswer = z
  .object({
    env: z.string(),
    name: z.string(),
    version: z.int(),
    changed: z.boolean().describe('false: it was imported before, word for word'),
    warnings: z.array(problem).optional(),
  })
  .meta({ id: 'LifecycleImported' });

const summary = { env: z.string(), name: z.string(), version: z.int(), checksum: z.string(), importedAt: timestamp };

export const lifecycleSchema = z.object(summary).meta({ id: 'Lifecycle' });

/** A trigger may name an event by any of these. */
const eventSchema = z.object({ name: z.string(), id: z.uuid(), code: z.int().optional() });

export const lifecycleDetailSchema = z
  .object({
    ...summary,
    newestVersion: z.int(),
    events: z.array(eventSchema),
    definition: json,
    policies: json.optional(),
  })
  .meta({ id: 'LifecycleDetail' });

export const lifecycleVersionSchema = z
  .object({ version: z.int(), checksum: z.string(), importedAt: timestamp })
  .meta({ id: 'LifecycleVersion' });

export const lifecycleVersionQuery = z.object({
  ...pageQuery,
  cursor: cursorOf(/^\d{1,9}$/).optional(),
  tenantId: tenantId.optional(),
});

export const lifecycleListQuery = z.object({ ...pageQuery, tenantId: tenantId.optional() });

const version = queryNumber(1, 999_999_999).optional().describe('by default the newest');

export const lifecycleQuery = z.object({ version, tenantId: tenantId.optional() });

export const diagramQuery = z.object({
  version,
  externalRef: externalRef.optional().describe('marks the state of this instance, in the version it is on'),
  tenantId: tenantId.optional(),
});

const noEvent = ({ input }: { readonly input?: unknown }) =>
  input === undefined ? 'is required' : 'must be the name, id or code of an event';

export const lifecycleTriggerRequest = z
  .strictObject({
    externalRef,
    event: z.union([label(200), z.int().min(0)], { error: noEvent }).describe('its name, id or code'),
    requestId: label(200).describe('the same requestId is applied once'),
    actor: label(200).optional().describe('by default the subject of the token, or the name of the key'),
    payload: z.unknown().optional(),
    tenantId: tenantId.optional(),
  })
  .meta({ id: 'LifecycleTriggerRequest' });

export const lifecycleTriggerAnswer = z
  .object({
    applied: z.boolean(),
    instanceId: executionId,
    from: z.string(),
    to: z.string(),
    notice: z.string().optional().describe('why nothing was applied: DuplicateRequest or NoOpAlreadyInState'),
  })
  .meta({ id: 'LifecycleTriggered' });

export const instanceSchema = z
  .object({
    instanceId: executionId,
    externalRef: z.string(),
    env: z.string(),
    definition: z.string(),
    version: z.int(),
    state: z.string(),
    final: z.boolean(),
    stateSince: timestamp,
    timeoutAt: timestamp.optional(),
  })
  .meta({ id: 'LifecycleInstance' });

export const instanceRequest = z
  .strictObject({
    externalRef,
    actor: label(200).optional().describe('by default the subject of the token, or the name of the key'),
    payload: z.unknown().optional().describe('kept in the timeline'),
    tenantId: tenantId.optional(),
  })
  .meta({ id: 'LifecycleInstanceRequest' });

export const instanceListQuery = z.object({
  state: label(200).optional(),
  prefix: label(200).optional().describe('whose externalRef begins so'),
  after: externalRef.optional().describe('an externalRef: those after it'),
  ...pageQuery,
  cursor: cursorOf(/^after\.(?:[0-9a-f]{2}){0,1100}$/).optional(),
  tenantId: tenantId.optional(),
});

export const timelineEntrySchema = z
  .object({
    at: timestamp,
    kind: z.enum(['transition', 'activity']),
    event: z.string().optional(),
    from: z.string().optional(),
    to: z.string().optional(),
    activity: z.string().optional(),
    status: z.string().optional(),
    actor: z.string().optional(),
    requestId: z.string().optional(),
    payload: z.unknown().optional(),
    cause: z.looseObject({ type: z.string() }).optional().describe('who or what wanted it'),
    messages: z.array(z.string()).optional().describe('the ackGuids of what was sent about it'),
  })
  .meta({ id: 'TimelineEntry' });

export const timelineQuery = z.object({
  ...pageQuery,
  cursor: numberCursor.optional(),
  tenantId: tenantId.optional(),
});

export const activityRequest = z
  .strictObject({
    activity: label(200).describe('what the application did or is doing'),
    status: label(200),
    actor: label(200).optional().describe('by default the subject of the token, or the name of the key'),
    payload: z.unknown().optional(),
    tenantId: tenantId.optional(),
  })
  .meta({ id: 'ActivityRequest' });

export const activityAnswer = z.object({ activityId: z.string() }).meta({ id: 'ActivityAdded' });

export type LifecycleImportRequest = z.input<typeof lifecycleImportRequest>;
export type LifecycleImportJson = z.infer<typeof lifecycleImportAnswer>;
export type LifecycleJson = z.infer<typeof lifecycleSchema>;
export type LifecycleDetailJson = z.infer<typeof lifecycleDetailSchema>;
export type LifecycleVersionJson = z.infer<typeof lifecycleVersionSchema>;
export type LifecycleTriggerRequest = z.input<typeof lifecycleTriggerRequest>;
export type LifecycleTriggerJson = z.infer<typeof lifecycleTriggerAnswer>;
export type InstanceRequest = z.input<typeof instanceRequest>;
export type InstanceJson = z.infer<typeof instanceSchema>;
export type TimelineEntryJson = z.infer<typeof timelineEntrySchema>;
export type ActivityRequest = z.input<typeof activityRequest>;
export type ActivityJson = z.infer<typeof activityAnswer>;

export const stateCountSchema = z
  .object({ state: z.string(), count: z.int().describe('counted up to 10,000') })
  .meta({ id: 'StateCount' });

export type StateCountJson = z.infer<typeof stateCountSchema>;
