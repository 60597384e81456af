// Triggers as people manage them (000 §13.7): create, change, delete, look at; and the secrets of webhooks, which are shown
// once, when they are made. Everything that is wrong with a request is said at once.

import type { Problem } from '../core/definition/problem.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import { requestInvalid } from '../core/error/request-invalid.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import { NEW_SECRET_BYTES, secretProblem } from '../protocol/webhook-secret.ts';
import { workflowRef } from '../protocol/workflow.ts';
import { type Actor, type AuditStore, type Deed, SYSTEM } from '../store/audit-port.ts';
import type { Store } from '../store/port.ts';
import type { FiringRecord, TriggerFilter, TriggerRecord, TriggerStore, TriggerType } from '../store/trigger-port.ts';
import type { WorkflowLifeStore, WorkflowRecord } from '../store/workflow-port.ts';
import { readSchedule, upcomingSlots } from './cron.ts';
import { type CheckedConfig, checkConfig, scheduleOf } from './trigger-config.ts';
import { secretOf } from './webhook-signature.ts';

export interface TriggersDeps {
  readonly store: TriggerStore & Pick<WorkflowLifeStore, 'workflowFind'> & Pick<AuditStore, 'audited'>;
  readonly newId: () => string;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Strict: a webhook without a secret does not exist. */
  readonly strict: boolean;
  /** Throws when the tenant may have no schedules. */
  readonly admitCron?: (tenantId: string) => Promise<void>;
}

export interface NewTriggerRequest {
  /** The name, or `wf_` and the uuid. */
  readonly workflowId: string;
  readonly triggerType: TriggerType;
  readonly isEnabled?: boolean | undefined;
  readonly config?: Json | undefined;
  readonly activationCondition?: string | null | undefined;
}

export type TriggerChangeRequest = {
  readonly [Field in keyof NewTriggerRequest]?: NewTriggerRequest[Field] | undefined;
};

/** A trigger, and a secret that nobody will see again. */
export interface TriggerAnswer {
  readonly trigger: TriggerRecord;
  readonly secret: string | null;
}

interface Key {
  readonly tenantId: string;
  readonly triggerId: string;
}

export class Triggers {
  private readonly deps: TriggersDeps;

  constructor(deps: TriggersDeps) {
    this.deps = deps;
  }

  async get(key: Key): Promise<TriggerRecord> {
    const trigger = await this.deps.store.triggerGet(key);
    if (trigger === null) throw triggerNotFound(key.triggerId);
    return trigger;
  }

  list(filter: TriggerFilter, page: { afterId: string | null; limit: number }): Promise<TriggerRecord[]> {
    return this.deps.store.triggerList({ ...filter, ...page });
  }

  async firings(key: Key, page: { beforeId: string | null; limit: number }): Promise<FiringRecord[]> {
    await this.get(key);
    return this.deps.store.firingList({ ...key, ...page });
  }

  async create(tenantId: string, request: NewTriggerRequest, by: Actor = SYSTEM): Promise<TriggerAnswer> {
    const { triggerType, isEnabled = true, config = {}, activationCondition = null } = request;
    const workflow = await this.deps.store.workflowFind({ tenantId, ref: workflowRef(request.workflowId) });
    if (workflow === null) throw workflowNotFound(request);
    const { format } = workflow;
    const checked = checkConfig({ triggerType, config, activationCondition, format });
    const problems = [...checked.problems, ...this.secretProblems(request, checked)];
    if (problems.length > 0) throw requestInvalid(problems);
    if (triggerType === 'Schedule') await this.deps.admitCron?.(tenantId);
    const secret = checked.wantsSecret ? this.newSecret() : checked.secret;
    const wanted = {
      triggerId: this.deps.newId(),
      tenantId,
      workflowId: workflow.workflowId,
      triggerType,
      isEnabled,
      config: JSON.stringify(checked.config),
      activationCondition,
      eventType: checked.eventType,
      secrets: secret === null ? [] : [secret],
    };
    const { workflowId } = workflow;
    const trigger = await this.change({ ...wanted, by }, 'create', { workflowId, triggerType }, (store) =>
      store.triggerCreate(wanted),
    );
    if (trigger === null) throw workflowNotFound(request);
    return { trigger, secret: checked.wantsSecret ? secret : null };
  }

  /** What the request does not say stays. A secret in it is added as in a rotation. */
  async update(key: Key, request: TriggerChangeRequest, by: Actor = SYSTEM): Promise<TriggerAnswer> {
    const existing = await this.get(key);
    const { triggerType, workflowFormat: format } = existing;
    const config = request.config ?? (JSON.parse(existing.config) as Json);
    const { isEnabled, activationCondition } = request;
    const condition = activationCondition === undefined ? existing.activationCondition : activationCondition;
    const checked = checkConfig({ triggerType, config, activationCondition: condition, format });
    const problems = [...identityProblems(existing, request), ...checked.problems];
    if (problems.length > 0) throw requestInvalid(problems);
    const secret = checked.wantsSecret ? this.newSecret() : checked.secret;
    const { eventType } = checked;
    const changed = request.config === undefined ? {} : { config: JSON.stringify(checked.config), eventType };
    const fields = Object.keys(request).filter((name) => request[name as keyof typeof request] !== undefined);
    const trigger = await this.change({ ...key, by }, 'update', { fields }, async (store) => {
      if (secret !== null) await store.webhookSecretAdd({ ...key, secret, keepPrevious: true });
      return store.triggerUpdate({ ...key, isEnabled, activationCondition, ...changed });
    });
    if (trigger === null) throw triggerNotFound(key.triggerId);
    return { trigger, secret: checked.wantsSecret ? secret : null };
  }

  async delete(key: Key, by: Actor = SYSTEM): Promise<void> {
    const removed = await this.change({ ...key, by }, 'delete', {}, (store) => store.triggerDelete(key));
    if (!removed) throw triggerNotFound(key.triggerId);
  }

  /** The new secret is valid at once; the one before it stays so until the next rotation, unless it is not kept. */
  async rotateSecret(
    key: Key,
    { secret: given, keepPrevious = true }: { secret?: string | undefined; keepPrevious?: boolean | undefined },
    by: Actor = SYSTEM,
  ): Promise<TriggerAnswer> {
    const wrong = given === undefined ? undefined : secretProblem(given);
    if (wrong !== undefined) throw requestInvalid([{ code: 'CONFIG_INVALID', path: '/secret', message: wrong }]);
    const { triggerType } = await this.get(key);
    if (triggerType !== 'Webhook') {
      const message = `a ${triggerType} trigger has no secret`;
      throw requestInvalid([{ code: 'CONFIG_INVALID', path: '', message }]);
    }
    const secret = given ?? this.newSecret();
    await this.change({ ...key, by }, 'rotate-secret', { keepPrevious }, (store) =>
      store.webhookSecretAdd({ ...key, secret, keepPrevious }),
    );
    return { trigger: await this.get(key), secret: given === undefined ? secret : null };
  }

  /** Where webhooks need a secret, the one of a pipeline that has none yet; null: it has one, or needs none. */
  async firstSecretOf(tenantId: string, { pipeline }: WorkflowRecord): Promise<string | null> {
    const triggerId = pipeline?.webhookTriggerId ?? null;
    if (!this.deps.strict || triggerId === null) return null;
    const secret = this.newSecret();
    const params = { tenantId, triggerId, secret, keepPrevious: false, onlyFirst: true };
    return (await this.deps.store.webhookSecretAdd(params)) ? secret : null;
  }

  /** Recorded when it happened: when the answer is neither null nor false. Secrets are no part of the record. */
  private change<Result>(
    { tenantId, triggerId, by }: Key & { readonly by: Actor },
    action: string,
    details: JsonObject,
    work: (store: Store) => Promise<Result>,
  ): Promise<Result> {
    const deed: Deed = { action: `trigger.${action}`, target: `trigger/${triggerId}`, details };
    const happened = (result: Result) => result !== null && result !== false;
    return this.deps.store.audited({ tenantId, by, work, deed: (result) => (happened(result) ? deed : null) });
  }

  private secretProblems({ triggerType }: NewTriggerRequest, { secret, wantsSecret }: CheckedConfig): Problem[] {
    if (!this.deps.strict || triggerType !== 'Webhook' || secret !== null || wantsSecret) return [];
    const message = 'a webhook needs a secret here';
    const suggestion = 'give one, or set `generateSecret` to true';
    return [{ code: 'SECRET_REQUIRED', path: '/config/secret', message, suggestion }];
  }

  private newSecret(): string {
    return secretOf(this.deps.randomBytes(NEW_SECRET_BYTES));
  }
}

const SHOWN_FIRE_TIMES = 5;

/** Of a schedule that is enabled, when it will fire; undefined of everything else. */
export function nextFireTimes({ triggerType, isEnabled, config }: TriggerRecord, now: number): number[] | undefined {
  if (triggerType !== 'Schedule' || !isEnabled) return undefined;
  const read = scheduleOf(JSON.parse(config) as Json);
  return typeof read === 'string' ? [] : upcomingSlots(read.schedule, now, SHOWN_FIRE_TIMES);
}

/** What is wrong with the cron expression of a pipeline; undefined: nothing. */
export function cronProblem(cron: string, timezone?: string): string | undefined {
  const read = readSchedule(cron, timezone);
  if (!read.ok) return read.message;
  return read.schedule.next(0) === null ? 'is a time that never comes' : undefined;
}

export const triggerNotFound = (triggerId: string): PawlError =>
  new PawlError('TRIGGER_NOT_FOUND', `no trigger ${triggerId}`);

const workflowNotFound = ({ workflowId }: NewTriggerRequest): PawlError =>
  new PawlError('WORKFLOW_NOT_FOUND', `no workflow "${workflowId}"`);

/** A trigger keeps its workflow and its type: executions, links and links' owners rely on both. */
function identityProblems(existing: TriggerRecord, request: TriggerChangeRequest): Problem[] {
  const fixed = ['workflowId', 'triggerType'] as const;
  return fixed
    .filter((field) => request[field] !== undefined && request[field] !== existing[field])
    .map((field) => ({
      code: 'CANNOT_CHANGE',
      path: `/${field}`,
      message: `is ${existing[field]} and cannot change`,
      suggestion: 'create another trigger',
    }));
}
