// Triggers as people manage them: create, change, delete, read; and the secrets of webhooks, which are shown once. All problems
// of a request are reported at once.

import type { Verification, WebhookSettings } from '../core/definition/webhook-schema.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import { requestInvalid } from '../core/error/request-invalid.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import type { Problem } from '../core/problem/problem.ts';
import { NEW_SECRET_BYTES, SECRET_PREFIX } from '../protocol/webhook-secret.ts';
import { workflowRef } from '../protocol/workflow.ts';
import { type Actor, type AuditStore, type Deed, SYSTEM } from '../store/audit-port.ts';
import type { OverviewStore } from '../store/overview-port.ts';
import type { Store } from '../store/port.ts';
import type { FiringRecord, TriggerFilter, TriggerRecord, TriggerStore, TriggerType } from '../store/trigger-port.ts';
import type { WorkflowLifeStore, WorkflowRecord } from '../store/workflow-port.ts';
import { readSchedule, upcomingSlots } from './cron.ts';
import { type CheckedConfig, checkConfig, scheduleOf } from './trigger-config.ts';
import { kindOf } from './webhook/scheme.ts';
import { makesSecret, unsignedProblem, usableSecret, verificationOf } from './webhook/settings.ts';

export interface TriggersDeps {
  readonly store: TriggerStore &
    Pick<OverviewStore, 'lastFirings' | 'lastMissed'> &
    Pick<WorkflowLifeStore, 'workflowFind'> &
    Pick<AuditStore, 'audited'>;
  readonly newId: () => string;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Strict: a webhook needs a secret. */
  readonly strict: boolean;
  /** Throws when the tenant may not have schedules. */
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

/** A trigger and its new secret, which is shown only once. */
export interface TriggerAnswer {
  readonly trigger: TriggerRecord;
  readonly secret: string | null;
}

export interface LastFirings {
  readonly lastFiring: FiringRecord | undefined;
  readonly missed: FiringRecord | undefined;
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

  /** By trigger id: the outcome of the newest firing, and the newest missed slots of a schedule. */
  async lastOf(tenantId: string, triggers: readonly TriggerRecord[]): Promise<ReadonlyMap<string, LastFirings>> {
    const { store } = this.deps;
    const idsOf = (list: readonly TriggerRecord[]) => list.map(({ triggerId }) => triggerId);
    const schedules = triggers.filter(({ triggerType }) => triggerType === 'Schedule');
    const [fired, missed] = await Promise.all([
      store.lastFirings({ tenantId, triggerIds: idsOf(triggers) }),
      store.lastMissed({ tenantId, triggerIds: idsOf(schedules) }),
    ]);
    const byId = (list: readonly FiringRecord[]) => new Map(list.map((firing) => [firing.triggerId, firing]));
    const [newest, misses] = [byId(fired), byId(missed)];
    return new Map(idsOf(triggers).map((id) => [id, { lastFiring: newest.get(id), missed: misses.get(id) }]));
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

  /** The problems of a trigger for a workflow of this format. */
  check(request: Omit<NewTriggerRequest, 'workflowId'>, format: string): Problem[] {
    const { triggerType, config = {}, activationCondition = null } = request;
    const checked = checkConfig({ triggerType, config, activationCondition, format });
    return [...checked.problems, ...this.secretProblems(request, checked)];
  }

  /** `triggerId`: given when the id is known beforehand. */
  async create(
    tenantId: string,
    request: NewTriggerRequest,
    by: Actor = SYSTEM,
    triggerId: string = this.deps.newId(),
  ): Promise<TriggerAnswer> {
    const { triggerType, isEnabled = true, config = {}, activationCondition = null } = request;
    const workflow = await this.deps.store.workflowFind({ tenantId, ref: workflowRef(request.workflowId) });
    if (workflow === null) throw workflowNotFound(request);
    const { format } = workflow;
    const checked = checkConfig({ triggerType, config, activationCondition, format });
    const problems = this.check(request, format);
    if (problems.length > 0) throw requestInvalid(problems);
    if (triggerType === 'Schedule') await this.deps.admitCron?.(tenantId);
    const { secret, made } = this.secretFor(checked, false);
    const wanted = {
      triggerId,
      tenantId,
      workflowId: workflow.workflowId,
      triggerType,
      isEnabled,
      config: JSON.stringify(checked.config),
      activationCondition,
      eventType: checked.eventType,
      secrets: secret === null ? [] : [secret],
    };
    const details = { workflowId: workflow.workflowId, triggerType, ...webhookDetails(checked) };
    const trigger = await this.change({ ...wanted, by }, 'create', details, (store) => store.triggerCreate(wanted));
    if (trigger === null) throw workflowNotFound(request);
    return { trigger, secret: made };
  }

  /** Fields that the request leaves out stay as they are. A secret in it is added as in a rotation. */
  async update(key: Key, request: TriggerChangeRequest, by: Actor = SYSTEM): Promise<TriggerAnswer> {
    const existing = await this.get(key);
    const { triggerType, workflowFormat: format } = existing;
    const config = request.config ?? (JSON.parse(existing.config) as Json);
    const { isEnabled, activationCondition } = request;
    const condition = activationCondition === undefined ? existing.activationCondition : activationCondition;
    const checked = checkConfig({ triggerType, config, activationCondition: condition, format });
    const unsigned = checked.webhook === null ? null : unsignedProblem(checked.webhook, this.deps.strict, '/config');
    const problems = [
      ...identityProblems(existing, request),
      ...checked.problems,
      ...(unsigned === null ? [] : [unsigned]),
    ];
    if (problems.length > 0) throw requestInvalid(problems);
    const { secret, made } = this.secretFor(checked, existing.hasSecret);
    const { eventType } = checked;
    const changed = request.config === undefined ? {} : { config: JSON.stringify(checked.config), eventType };
    const fields = Object.keys(request).filter((name) => request[name as keyof typeof request] !== undefined);
    const details = { fields, ...(request.config === undefined ? {} : webhookDetails(checked)) };
    const trigger = await this.change({ ...key, by }, 'update', details, async (store) => {
      if (secret !== null) await store.webhookSecretAdd({ ...key, secret, keepPrevious: true });
      return store.triggerUpdate({ ...key, isEnabled, activationCondition, ...changed });
    });
    if (trigger === null) throw triggerNotFound(key.triggerId);
    return { trigger, secret: made };
  }

  async delete(key: Key, by: Actor = SYSTEM): Promise<void> {
    const removed = await this.change({ ...key, by }, 'delete', {}, (store) => store.triggerDelete(key));
    if (!removed) throw triggerNotFound(key.triggerId);
  }

  /** The new secret is valid at once. The previous one stays valid until the next rotation, unless it is dropped. */
  async rotateSecret(
    key: Key,
    { secret: given, keepPrevious = true }: { secret?: string | undefined; keepPrevious?: boolean | undefined },
    by: Actor = SYSTEM,
  ): Promise<TriggerAnswer> {
    const { triggerType, config } = await this.get(key);
    if (triggerType !== 'Webhook') {
      throw new PawlError('WRONG_KIND', `a ${triggerType} trigger has no secret`);
    }
    const { verification = 'standard' } = JSON.parse(config) as WebhookSettings;
    const wrong = usableSecret(verification, given ?? this.newSecret(verification));
    if (wrong !== undefined) throw requestInvalid([{ code: 'CONFIG_INVALID', path: '/secret', message: wrong }]);
    const secret = given ?? this.newSecret(verification);
    await this.change({ ...key, by }, 'rotate-secret', { keepPrevious }, (store) =>
      store.webhookSecretAdd({ ...key, secret, keepPrevious }),
    );
    return { trigger: await this.get(key), secret: given === undefined ? secret : null };
  }

  /** Generates the secret of a pipeline's webhook; null: it has one, needs none, or the sender makes it. */
  async firstSecretOf(tenantId: string, { pipeline }: WorkflowRecord): Promise<string | null> {
    const triggerId = pipeline?.webhookTriggerId ?? null;
    if (triggerId === null) return null;
    const { config } = await this.get({ tenantId, triggerId });
    const settings = JSON.parse(config) as WebhookSettings;
    const verification = verificationOf(settings, { hasSecret: false, strict: this.deps.strict });
    if (!makesSecret({ ...settings, verification }, false)) return null;
    const secret = this.newSecret(verification);
    const params = { tenantId, triggerId, secret, keepPrevious: false, onlyFirst: true };
    return (await this.deps.store.webhookSecretAdd(params)) ? secret : null;
  }

  /** Audited when it happened, i.e. when the answer is neither null nor false. The record contains no secrets. */
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

  private secretProblems(
    { triggerType }: Pick<NewTriggerRequest, 'triggerType'>,
    { webhook, wantsSecret }: CheckedConfig,
  ): Problem[] {
    if (!this.deps.strict || triggerType !== 'Webhook' || webhook === null) return [];
    const unsigned = unsignedProblem(webhook, true, '/config');
    if (unsigned !== null) return [unsigned];
    if (webhook.verification !== undefined || webhook.secret !== undefined || wantsSecret) return [];
    const message = 'a webhook needs a secret here';
    const suggestion = 'give one, set `generateSecret` to true, or choose a `verification`';
    return [{ code: 'SECRET_REQUIRED', path: '/config/secret', message, suggestion }];
  }

  /** A given or generated secret; only a generated one is shown. */
  private secretFor(
    { webhook, wantsSecret }: CheckedConfig,
    hasSecret: boolean,
  ): { readonly secret: string | null; readonly made: string | null } {
    if (webhook === null) return { secret: null, made: null };
    if (webhook.secret !== undefined) return { secret: webhook.secret, made: null };
    if (!wantsSecret && !makesSecret(webhook, hasSecret)) return { secret: null, made: null };
    const made = this.newSecret(webhook.verification ?? 'standard');
    return { secret: made, made };
  }

  private newSecret(verification: Verification): string {
    const bytes = Buffer.from(this.deps.randomBytes(NEW_SECRET_BYTES));
    if (kindOf(verification) === 'standard') return `${SECRET_PREFIX}${bytes.toString('base64')}`;
    return bytes.toString('base64url');
  }
}

/** The kind of verification belongs in the audit log, above all when there is none. */
function webhookDetails({ webhook }: CheckedConfig): JsonObject {
  if (webhook?.verification === undefined) return {};
  const { verification, allowUnsigned } = webhook;
  return { verification: kindOf(verification), ...(allowUnsigned === true ? { allowUnsigned } : {}) };
}

const SHOWN_FIRE_TIMES = 5;

/** The next slots of an enabled schedule; otherwise undefined. */
export function nextFireTimes({ triggerType, isEnabled, config }: TriggerRecord, now: number): number[] | undefined {
  if (triggerType !== 'Schedule' || !isEnabled) return undefined;
  const read = scheduleOf(JSON.parse(config) as Json);
  return typeof read === 'string' ? [] : upcomingSlots(read.schedule, now, SHOWN_FIRE_TIMES);
}

/** The problem with the cron expression of a pipeline; undefined: none. */
export function cronProblem(cron: string, timezone?: string): string | undefined {
  const read = readSchedule(cron, timezone);
  if (!read.ok) return read.message;
  return read.schedule.next(0) === null ? 'is a time that never comes' : undefined;
}

export const triggerNotFound = (triggerId: string): PawlError =>
  new PawlError('TRIGGER_NOT_FOUND', `no trigger ${triggerId}`);

const workflowNotFound = ({ workflowId }: NewTriggerRequest): PawlError =>
  new PawlError('WORKFLOW_NOT_FOUND', `no workflow "${workflowId}"`);

/** A trigger keeps its workflow and type, because executions and links rely on both. */
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
