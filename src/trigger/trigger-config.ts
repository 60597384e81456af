// Checks the configuration of a trigger and reports every problem at once.

import { MAX_SCHEDULE_PAYLOAD_CHARS } from '../core/definition/limits.ts';
import type { WebhookSettings } from '../core/definition/webhook-schema.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts';
import type { Problem } from '../core/problem/problem.ts';
import type { TriggerType } from '../store/trigger-port.ts';
import { expressionProblems } from './activation.ts';
import { readSchedule, type Schedule } from './cron.ts';
import { CATCH_UP, type CatchUp } from './due-slots.ts';
import { WEBHOOK_FIELDS, webhookProblems } from './webhook/settings.ts';

export interface TriggerDraft {
  readonly triggerType: TriggerType;
  readonly config: Json;
  readonly activationCondition: string | null;
  /** The format of its workflow, which sets the dialect of expressions. */
  readonly format: string;
}

export interface CheckedConfig {
  readonly problems: readonly Problem[];
  /** As stored and shown: without secrets. */
  readonly config: JsonObject;
  readonly eventType: string | null;
  /** Webhooks only, with the secret; otherwise null. */
  readonly webhook: WebhookSettings | null;
  /** The request asks for a generated secret. */
  readonly wantsSecret: boolean;
}

/** By default missed slots are made up for once. */
const DEFAULT_CATCH_UP: CatchUp = 'latest';

const FIELDS: Readonly<Record<TriggerType, readonly string[]>> = {
  Schedule: ['cron', 'timezone', 'catchUp', 'payload'],
  Webhook: [...WEBHOOK_FIELDS, 'generateSecret', 'path'],
  Event: ['eventType', 'filter'],
  Manual: [],
};

const PRINTABLE = /^[^\p{Cc}\p{Cs}]{1,200}$/u;

export function checkConfig({ triggerType, config, activationCondition, format }: TriggerDraft): CheckedConfig {
  const given = isJsonObject(config) ? config : {};
  const condition = activationCondition;
  const problems = [
    ...(isJsonObject(config) ? [] : [problem('/config', 'must be an object')]),
    ...unknownFields(triggerType, given),
    ...nameProblems(given),
    ...(condition === null ? [] : expressionProblems('condition', condition, format, '/activationCondition')),
  ];
  const { secret: _apart, generateSecret, ...kept } = given;
  const nothing = { config: kept, eventType: null, webhook: null, wantsSecret: false };
  switch (triggerType) {
    case 'Manual':
      return { ...nothing, problems };
    case 'Schedule':
      return { ...nothing, problems: [...problems, ...scheduleProblems(kept)] };
    case 'Event': {
      const eventType = typeof kept.eventType === 'string' ? kept.eventType : null;
      return { ...nothing, eventType, problems: [...problems, ...eventProblems(kept, format)] };
    }
    case 'Webhook':
      return {
        ...nothing,
        webhook: given as WebhookSettings,
        wantsSecret: generateSecret === true,
        problems: [...problems, ...webhookTriggerProblems(given)],
      };
  }
}

export interface ScheduleConfig {
  readonly schedule: Schedule;
  readonly catchUp: CatchUp;
}

/** Parses a configuration that was checked when it was created. A text is the problem, should there be one anyway. */
export function scheduleOf(config: Json): ScheduleConfig | string {
  const { cron, timezone = 'UTC', catchUp = DEFAULT_CATCH_UP } = isJsonObject(config) ? config : {};
  if (typeof cron !== 'string' || typeof timezone !== 'string') return 'cron and timezone must be texts';
  const read = readSchedule(cron, timezone);
  if (!read.ok) return read.message;
  return { schedule: read.schedule, catchUp: CATCH_UP.find((policy) => policy === catchUp) ?? DEFAULT_CATCH_UP };
}

/** The payload of every execution of a schedule, beside its slot. */
export function payloadOf(config: Json): JsonObject {
  const payload = isJsonObject(config) ? config.payload : undefined;
  return payload !== undefined && isJsonObject(payload) ? payload : {};
}

/** The optional name of a trigger, used by people and workflow files. */
function nameProblems({ name }: JsonObject): Problem[] {
  const isName = name === undefined || (typeof name === 'string' && PRINTABLE.test(name));
  return isName ? [] : [problem('/config/name', 'must be a text of at most 200 characters')];
}

function payloadProblems(payload: Json | undefined): Problem[] {
  if (payload === undefined) return [];
  if (!isJsonObject(payload)) return [problem('/config/payload', 'must be an object')];
  const { length } = JSON.stringify(payload);
  if (length <= MAX_SCHEDULE_PAYLOAD_CHARS) return [];
  return [
    problem('/config/payload', `is ${length} characters of JSON; at most ${MAX_SCHEDULE_PAYLOAD_CHARS} are allowed`),
  ];
}

function scheduleProblems({ cron, timezone = 'UTC', catchUp = DEFAULT_CATCH_UP, payload }: JsonObject): Problem[] {
  const problems: Problem[] = payloadProblems(payload);
  if (typeof timezone !== 'string')
    problems.push(problem('/config/timezone', 'must be a text such as "Europe/Berlin"'));
  if (typeof cron !== 'string') problems.push(problem('/config/cron', 'must be a cron expression'));
  if (!CATCH_UP.includes(catchUp as CatchUp)) {
    problems.push(problem('/config/catchUp', `must be one of ${CATCH_UP.join(', ')}`));
  }
  return [...problems, ...fieldProblems(cron, timezone)];
}

/** Each field is checked without the other, so that both are reported. */
function fieldProblems(cron: Json | undefined, timezone: Json): Problem[] {
  const problems: Problem[] = [];
  const inZone = typeof timezone === 'string' ? readSchedule('* * * * *', timezone) : null;
  if (inZone !== null && !inZone.ok) problems.push(problem('/config/timezone', inZone.message));
  const read = typeof cron === 'string' ? readSchedule(cron) : null;
  if (read === null) return problems;
  if (!read.ok) problems.push(problem('/config/cron', read.message));
  else if (read.schedule.next(0) === null) problems.push(problem('/config/cron', 'is a time that never comes'));
  return problems;
}

function eventProblems({ eventType, filter }: JsonObject, format: string): Problem[] {
  const isType = typeof eventType === 'string' && PRINTABLE.test(eventType);
  const problems = isType ? [] : [problem('/config/eventType', 'must be the type of an event, e.g. "order.paid"')];
  if (filter === undefined) return problems;
  if (typeof filter !== 'string') return [...problems, problem('/config/filter', 'must be an expression')];
  return [...problems, ...expressionProblems('filter', filter, format, '/config/filter')];
}

/** `path` is only a name for people; the address contains the trigger's id. */
function webhookTriggerProblems({ generateSecret: generate, path, ...settings }: JsonObject): Problem[] {
  const problems: Problem[] = [];
  if (path !== undefined && !(typeof path === 'string' && PRINTABLE.test(path))) {
    problems.push(problem('/config/path', 'must be a text of at most 200 characters, e.g. "/orders/paid"'));
  }
  if (generate !== undefined && typeof generate !== 'boolean') {
    problems.push(problem('/config/generateSecret', 'must be true or false'));
  }
  if (settings.secret !== undefined && generate === true) {
    problems.push(problem('/config/secret', 'cannot be given and generated at once'));
  }
  return [...problems, ...webhookProblems(settings, '/config')];
}

function unknownFields(triggerType: TriggerType, config: JsonObject): Problem[] {
  const known = [...FIELDS[triggerType], 'name'];
  const allowed = `there is ${known.join(', ')}`;
  return Object.keys(config)
    .filter((name) => !known.includes(name))
    .map((name) => ({
      code: 'UNKNOWN_FIELD',
      path: `/config/${name}`,
      message: `is not known of a ${triggerType} trigger: ${allowed}`,
    }));
}

const problem = (path: string, message: string): Problem => ({ code: 'CONFIG_INVALID', path, message });
