// The triggers inside a workflow file (`triggers`), so that one file is the whole thing. They are checked with the definition and
// synchronised when it is published: new ones are created, changed ones updated, and missing ones removed. Triggers created by
// hand are left alone. If the process dies in between, publishing again repairs it.

import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts';
import { sha256Hex } from '../core/plan/checksum.ts';
import type { Problem } from '../core/problem/problem.ts';
import type { Actor } from '../store/audit-port.ts';
import type { TriggerRecord, TriggerType } from '../store/trigger-port.ts';
import type { Triggers } from './triggers.ts';

interface FileTrigger {
  readonly name: string;
  readonly triggerType: TriggerType;
  readonly config?: JsonObject;
  readonly activationCondition?: string;
  readonly isEnabled?: boolean;
}

interface Key {
  readonly tenantId: string;
  readonly workflowId: string;
}

/** A workflow may have more triggers than its file has, so all are read. */
const MOST = 1_000;

export class FileTriggers {
  private readonly triggers: Pick<Triggers, 'check' | 'list' | 'create' | 'update' | 'delete'>;

  constructor(triggers: FileTriggers['triggers']) {
    this.triggers = triggers;
  }

  /** Empty for a definition of the wrong shape. */
  problems(definition: Json): Problem[] {
    return triggersOf(definition).flatMap((trigger, index, all) => {
      const at = `/triggers/${index}`;
      const config = configOf(trigger);
      const problems = this.triggers
        .check({ ...trigger, config }, 'graph')
        .map((found) => ({ ...found, path: `${at}${found.path}` }));
      if (config.secret !== undefined) {
        const message = 'a definition is read by many: it holds no secret';
        const suggestion = 'write "generateSecret": true, and rotate it once to see it';
        problems.push({ code: 'SECRET_IN_DEFINITION', path: `${at}/config/secret`, message, suggestion });
      }
      if (all.findIndex(({ name }) => name === trigger.name) < index) {
        problems.push({ code: 'DUPLICATE_ID', path: `${at}/name`, message: `the name \`${trigger.name}\` is taken` });
      }
      return problems;
    });
  }

  async apply({ tenantId, workflowId }: Key, definition: Json, by: Actor): Promise<void> {
    const wanted = new Map(triggersOf(definition).map((trigger) => [idOf({ tenantId, workflowId }, trigger), trigger]));
    const there = await this.triggers.list({ tenantId, workflowId }, { afterId: null, limit: MOST });
    const own = new Map(there.filter((trigger) => isOfFile(trigger, workflowId)).map((one) => [one.triggerId, one]));
    for (const triggerId of own.keys()) {
      if (!wanted.has(triggerId)) await this.triggers.delete({ tenantId, triggerId }, by);
    }
    for (const [triggerId, trigger] of wanted) {
      const { triggerType, isEnabled, activationCondition = null } = trigger;
      const known = own.get(triggerId);
      const request = { config: configOf(trigger), activationCondition, isEnabled };
      if (known === undefined)
        await this.triggers.create(tenantId, { workflowId, triggerType, ...request }, by, triggerId);
      else if (differs(known, request))
        await this.triggers.update({ tenantId, triggerId }, withoutNewSecret(request), by);
    }
  }
}

function triggersOf(definition: Json): FileTrigger[] {
  const list = isJsonObject(definition) && Array.isArray(definition.triggers) ? definition.triggers : [];
  return list.filter(isFileTrigger) as unknown as FileTrigger[];
}

/** The schema reports anything else. */
function isFileTrigger(one: Json): boolean {
  if (!isJsonObject(one) || typeof one.name !== 'string') return false;
  return TYPES.includes(one.triggerType as TriggerType) && (one.config === undefined || isJsonObject(one.config));
}

const TYPES: readonly TriggerType[] = ['Schedule', 'Webhook', 'Event', 'Manual'];

const configOf = ({ name, config = {} }: FileTrigger): JsonObject => ({ ...config, name });

/** The same id for every publication: one name in the file is one trigger. */
function idOf({ tenantId, workflowId }: Key, { triggerType, name }: Pick<FileTrigger, 'triggerType' | 'name'>): string {
  const hex = sha256Hex(JSON.stringify([tenantId, workflowId, triggerType, name]));
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function isOfFile({ triggerId, tenantId, triggerType, config }: TriggerRecord, workflowId: string): boolean {
  const { name } = JSON.parse(config) as { name?: unknown };
  return typeof name === 'string' && idOf({ tenantId, workflowId }, { triggerType, name }) === triggerId;
}

type Wanted = {
  readonly config: JsonObject;
  readonly activationCondition: string | null;
  readonly isEnabled: boolean | undefined;
};

/** An existing secret stays; publishing again generates no other. */
function withoutNewSecret<Request extends Wanted>(request: Request): Request {
  const { generateSecret: _made, ...config } = request.config;
  return { ...request, config };
}

function differs(known: TriggerRecord, request: Wanted): boolean {
  const { config, activationCondition, isEnabled } = withoutNewSecret(request);
  if (isEnabled !== undefined && isEnabled !== known.isEnabled) return true;
  return (
    activationCondition !== known.activationCondition ||
    sorted(config) !== sorted(JSON.parse(known.config) as JsonObject)
  );
}

const sorted = (config: JsonObject): string =>
  JSON.stringify(Object.entries(config).toSorted(([a], [b]) => (a < b ? -1 : 1)));
