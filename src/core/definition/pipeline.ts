// Reads a pipeline into a draft. Checks what the schema cannot express: that a task has exactly one type, that durations and URLs
// make sense, and that there is a cron expression where one is needed.

import { DURATION_FORMS, MAX_DURATION_MS, parseDuration } from '../duration/duration.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import { childPointer } from '../problem/pointer.ts';
import type { Findings } from '../problem/problem.ts';
import {
  DEFINITION_DEFAULTS,
  PIPELINE_MAX_DURATION_SECONDS,
  PIPELINE_RETRIES,
  PIPELINE_STEP_TIMEOUT_MS,
  pipelineRetry,
  WAITING_POLICY,
} from './defaults.ts';
import { readDependencies } from './dependency.ts';
import type { Draft, DraftEdge, DraftLoop, DraftNode, DraftStep, Located, ReadOptions } from './draft.ts';
import { headerNameProblem, headerValueProblem } from './http-header.ts';
import { flagIn, listIn, millisecondsIn, numberIn, objectIn, textIn } from './json-read.ts';
import { MAX_SCHEDULE_PAYLOAD_CHARS } from './limits.ts';
import { readForEach, readRepeat } from './loop.ts';
import { readWait } from './wait.ts';

const STEP_KEYS = ['url', 'sleep', 'wait_for_webhook', 'wait_for', 'end'] as const;
const FOR_EACH_KEYS = ['parallel', 'max_items', 'tolerate'] as const;
/** Their keys may be null, too. */
const INNER_KEYS: readonly string[] = ['wait_for_webhook', 'wait_for', 'undo', 'end'];
const UNTIL_KEYS = ['every', 'max_rounds', 'collect'] as const;
const LOOP_KEYS = ['for_each', ...FOR_EACH_KEYS, 'until', ...UNTIL_KEYS] as const;
const HTTP_KEYS = ['method', 'headers', 'body', 'connection', 'retries', 'timeout', ...LOOP_KEYS] as const;

/** The action behind an HTTP task: like `http.request`, with the outputs and outcomes of a pipeline. */
const HTTP_STEP_ACTION = 'http.step';

const TEMPLATES_ARE_FOR_VALUES = 'templates are for values: write the name out';

const CRON_KEYS = ['cron_expression', 'timezone', 'catch_up', 'payload'] as const;
/** The form only; the scheduler knows the fields and names. */
const CRON = /^(@[a-z]+|[\d*,/?#+a-z-]+(\s+[\d*,/?#+a-z-]+){4,5})$/i;
const HTTP_URL = /^https?:\/\/(\{\{|[^\s/?#{]+([/?#]|\{\{|$))/i;
const URL_WITH_CREDENTIALS = /^https?:\/\/[^/?#]*@/i;

/** Any field of a task may be null, which means absent. Only a null body is a body. */
export function withoutNulls(definition: JsonObject): JsonObject {
  const given = present(definition);
  if (!isJsonObject(given.tasks)) return given;
  const tasks = Object.entries(given.tasks).map(([name, task]) => [name, isJsonObject(task) ? givenTask(task) : task]);
  return { ...given, tasks: Object.fromEntries(tasks) as JsonObject };
}

function givenTask(task: JsonObject): JsonObject {
  const inner = Object.entries(present(task)).map(([key, value]) => [
    key,
    INNER_KEYS.includes(key) && isJsonObject(value) ? present(value) : value,
  ]);
  return Object.fromEntries(inner) as JsonObject;
}

function present(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key, member]) => member !== null || key === 'body'));
}

export function readPipeline(definition: JsonObject, findings: Findings, options: ReadOptions): Draft {
  const { snapshot } = options.defaults ?? DEFINITION_DEFAULTS;
  const nodes: DraftNode[] = [];
  const edges: DraftEdge[] = [];
  for (const [name, value] of Object.entries(objectIn(definition.tasks))) {
    const at = childPointer('/tasks', name);
    const raw = objectIn(value);
    const when = textIn(raw.if) === null ? 'success' : 'always';
    const of = objectIn(raw.needs).of ?? [];
    edges.push(
      ...(isJsonObject(raw.needs)
        ? readDependencies(of, nodes.length, `${at}/needs/of`, when, findings)
        : readDependencies(raw.needs, nodes.length, `${at}/needs`, when, findings)),
    );
    nodes.push(readTask(name, raw, at, findings));
  }
  for (const [name, value] of Object.entries(objectIn(definition.tasks))) {
    const { undo } = objectIn(value);
    if (isJsonObject(undo)) nodes.push(readTask(undoOf(name), undo, `${childPointer('/tasks', name)}/undo`, findings));
  }
  if (isJsonObject(definition.tasks) && nodes.length === 0) {
    findings.error('OUT_OF_RANGE', '/tasks', 'must not be empty', 'add at least one task');
  }
  checkCron(definition, findings);
  if (definition.webhook !== undefined && definition.trigger !== 'webhook') {
    const message = '`webhook` needs `"trigger": "webhook"`';
    findings.error('WEBHOOK_UNUSED', '/webhook', message, 'set the trigger, or remove it');
  }
  return {
    format: 'pipeline',
    id: textIn(definition.name) ?? '',
    startNode: null,
    nodes,
    edges,
    onUnhandledFailure: 'continue',
    timeoutMs: numberIn(definition.max_duration_seconds, PIPELINE_MAX_DURATION_SECONDS) * 1_000,
    outputs: definition.outputs === undefined ? null : { value: definition.outputs, at: '/outputs' },
    vars: {},
    scope: {},
    snapshot,
    namedVersion: null,
    finally: listIn(definition.finally).flatMap((name, index) =>
      textIn(name) === null ? [] : [{ value: textIn(name)!, at: `/finally/${index}` }],
    ),
  };
}

/** The compensation of a task is a separate task with a reserved name. */
const undoOf = (name: string): string => `undo ${name}`;

function readTask(name: string, raw: JsonObject, at: string, findings: Findings): DraftNode {
  const step = readStep(raw, at, findings);
  const isHttp = step?.kind === 'action';
  const condition = textIn(raw.if);
  return {
    ...(isHttp ? readTaskLoop(raw, at, findings) : {}),
    ...(isJsonObject(raw.undo) ? { compensate: { value: undoOf(name), at: `${at}/undo` } } : {}),
    id: name,
    at,
    idAt: at,
    step,
    actionAt: null,
    parameters: step?.kind === 'end' ? endParameters(raw, at) : isHttp ? { value: httpParameters(raw), at } : null,
    policy: isHttp ? httpPolicy(raw, at, findings) : WAITING_POLICY,
    retryCodes: listIn(objectIn(raw.retries).on).map((code, place) => ({
      value: errorCode(code),
      at: `${at}/retries/on/${place}`,
    })),
    join: readJoin(raw, at, condition === null ? 'all' : 'resolved'),
    condition: condition === null ? null : { value: condition, at: `${at}/if`, on: null },
    routePolicy: 'parallel',
    dispatch: null,
  };
}

function readTaskLoop(raw: JsonObject, at: string, findings: Findings): { loop?: DraftLoop } {
  const { for_each: items, until } = raw;
  if (items !== undefined && until !== undefined) {
    const message = 'a task has `for_each` or `until`, not both';
    findings.error('LOOP_CONFLICT', `${at}/until`, message, 'move one of them to a pipeline of its own');
  }
  for (const [key, needs] of [
    ...FOR_EACH_KEYS.map((name) => [name, 'for_each']),
    ...UNTIL_KEYS.map((name) => [name, 'until']),
  ]) {
    if (raw[key!] === undefined || raw[needs!] !== undefined) continue;
    findings.error('LOOP_UNUSED', `${at}/${key}`, `\`${key}\` needs \`${needs}\` beside it`, 'add it, or remove this');
  }
  if (items !== undefined) {
    const { parallel, max_items: maxItems, tolerate } = raw;
    const list = { value: items, at: `${at}/for_each` };
    return { loop: readForEach(given({ parallel, maxItems, tolerate }), list, null) };
  }
  if (until === undefined) return {};
  const { max_rounds: maxRounds, collect, every } = raw;
  const delayMs = every === undefined ? undefined : (readDuration(every, `${at}/every`, findings) ?? undefined);
  const places = { until: `${at}/until`, collect: `${at}/collect` };
  return { loop: readRepeat(given({ until, maxRounds, collect, delayMs }), places, null) };
}

const given = (fields: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;

function readJoin({ needs }: JsonObject, at: string, otherwise: 'all' | 'resolved'): DraftNode['join'] {
  if (!isJsonObject(needs)) return otherwise;
  const first = { value: numberIn(needs.first, 1), at: `${at}/needs/first` };
  return { first, cancelRest: flagIn(needs.cancel_rest, false) };
}

function readEnd(raw: JsonObject, at: string, findings: Findings): DraftStep {
  const end = objectIn(raw.end);
  const status = end.status === 'failed' ? 'Failed' : 'Succeeded';
  const unused = status === 'Succeeded' ? 'error' : 'outputs';
  if (end[unused] !== undefined) {
    const message = `an end as ${textIn(end.status) ?? 'completed'} has no \`${unused}\``;
    findings.error('END_CONFLICT', `${at}/end/${unused}`, message, 'remove it, or change `status`');
  }
  return { kind: 'end', status };
}

function endParameters(raw: JsonObject, at: string): Located<Json> | null {
  const { outputs, error } = objectIn(raw.end);
  if (error !== undefined) return { value: error, at: `${at}/end/error` };
  return outputs === undefined ? null : { value: outputs, at: `${at}/end/outputs` };
}

function readStep(raw: JsonObject, at: string, findings: Findings): DraftStep | null {
  const present = STEP_KEYS.filter((key) => raw[key] !== undefined);
  if (present.length === 0) {
    const suggestion = 'add one of `url`, `sleep`, `wait_for_webhook`, `wait_for` and `end`';
    findings.error('MISSING_STEP_TYPE', at, 'a task needs something to do', suggestion);
    return null;
  }
  const [key] = present;
  const conflicting = [
    ...present.slice(1),
    ...(key === 'url' ? [] : HTTP_KEYS.filter((name) => raw[name] !== undefined)),
  ];
  for (const other of conflicting) {
    const message = `\`${other}\` cannot stand beside \`${key}\`: a task is an HTTP call, a sleep, a wait or an end`;
    findings.error('STEP_TYPE_CONFLICT', `${at}/${other}`, message, `remove it, or move it to a task of its own`);
  }
  switch (key!) {
    case 'url':
      return readHttp(raw, at, findings);
    case 'sleep':
      return readSleep(raw, at, findings);
    case 'wait_for_webhook': {
      const timeout = objectIn(raw.wait_for_webhook).timeout;
      const timeoutAt = `${at}/wait_for_webhook/timeout`;
      return { kind: 'webhook', timeoutMs: timeout === undefined ? null : readDuration(timeout, timeoutAt, findings) };
    }
    case 'wait_for': {
      const { webhook: callback, events, timeout, on_timeout: onTimeout, count, until } = objectIn(raw.wait_for);
      const place = `${at}/wait_for`;
      const timeoutMs = timeout === undefined ? null : readDuration(timeout, `${place}/timeout`, findings);
      return readWait({ callback, events, timeoutMs, onTimeout, count, until }, place, findings);
    }
    case 'end':
      return readEnd(raw, at, findings);
  }
}

function readHttp(raw: JsonObject, at: string, findings: Findings): DraftStep {
  const url = textIn(raw.url);
  // The text before the first template must look like a URL. A URL that begins with a template is checked at run time.
  if (url !== null && !url.startsWith('{{')) {
    if (!HTTP_URL.test(url)) {
      findings.error('BAD_URL', `${at}/url`, `"${url.slice(0, 100)}" is not an http or https URL`);
    } else if (URL_WITH_CREDENTIALS.test(url)) {
      findings.error('BAD_URL', `${at}/url`, 'the URL contains credentials', 'send them in a header instead');
    }
  }
  checkHeaders(objectIn(raw.headers), `${at}/headers`, findings);
  checkKeys(raw.body ?? null, `${at}/body`, findings);
  const connection = textIn(raw.connection);
  return { kind: 'action', actionType: HTTP_STEP_ACTION, ...(connection === null ? {} : { connection }) };
}

/** Reports headers that would fail every run. A value with a template is checked at run time. */
function checkHeaders(headers: JsonObject, at: string, findings: Findings): void {
  for (const [name, value] of Object.entries(headers)) {
    const text = textIn(value) ?? '';
    const problem = headerNameProblem(name) ?? (text.includes('{{') ? null : headerValueProblem(text));
    if (problem === null) continue;
    const suggestion = name.includes('{{') ? TEMPLATES_ARE_FOR_VALUES : undefined;
    findings.error('BAD_HEADER', childPointer(at, name), `\`${name.slice(0, 100)}\` ${problem}`, suggestion);
  }
}

/** A template in a field name would be sent literally. */
function checkKeys(value: Json, at: string, findings: Findings): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    const place = childPointer(at, key);
    if (key.includes('{{')) {
      const message = `the name \`${key.slice(0, 100)}\` is not rendered`;
      findings.error('BAD_TEMPLATE', place, message, TEMPLATES_ARE_FOR_VALUES);
    }
    checkKeys(member, place, findings);
  }
}

function readSleep(raw: JsonObject, at: string, findings: Findings): DraftStep | null {
  const durationMs = readDuration(raw.sleep!, `${at}/sleep`, findings);
  return durationMs === null ? null : { kind: 'sleep', durationMs };
}

/** Text, or seconds as a number. The schema reports other types. */
function readDuration(value: Json, at: string, findings: Findings): number | null {
  const ms =
    typeof value === 'number' ? Math.round(value * 1_000) : typeof value === 'string' ? parseDuration(value) : 0;
  if (ms !== null && ms <= MAX_DURATION_MS) return ms;
  const message = `${JSON.stringify(value).slice(0, 60)} is not a duration of at most ten years`;
  findings.error('BAD_DURATION', at, message, `write ${DURATION_FORMS}, or seconds as a number`);
  return null;
}

/** The names are the task's, so a place in the parameters is a place in the task. */
function httpParameters(raw: JsonObject): JsonObject {
  const parameters: JsonObject = { url: textIn(raw.url) ?? '', method: textIn(raw.method) ?? 'POST' };
  if (raw.headers !== undefined) parameters.headers = objectIn(raw.headers);
  if (raw.body !== undefined) parameters.body = raw.body;
  return parameters;
}

function httpPolicy(raw: JsonObject, at: string, findings: Findings): DraftNode['policy'] {
  const { times = raw.retries, on, delay } = objectIn(raw.retries);
  const usual = pipelineRetry(numberIn(times, PIPELINE_RETRIES));
  const delayMs = delay === undefined ? null : readDuration(delay, `${at}/retries/delay`, findings);
  const retry = delayMs === null ? usual : { ...usual, baseDelayMs: delayMs };
  const policy = { timeoutMs: millisecondsIn(raw.timeout, PIPELINE_STEP_TIMEOUT_MS), rerenderOnRetry: false, retry };
  return on === undefined ? policy : { ...policy, rules: [{ on: listIn(on).map(errorCode), ...retry }] };
}

/** 503 is HTTP_503; "timeout" and "network" are groups; anything else is a code. */
function errorCode(named: Json): string {
  if (typeof named === 'number') return `HTTP_${named}`;
  return (textIn(named) ?? '').toUpperCase();
}

function checkCron(definition: JsonObject, findings: Findings): void {
  const { trigger, cron_expression: cron, payload } = definition;
  const payloadChars = payload === undefined ? 0 : JSON.stringify(payload).length;
  if (payloadChars > MAX_SCHEDULE_PAYLOAD_CHARS) {
    const message = `the payload is ${payloadChars} characters of JSON; the limit is ${MAX_SCHEDULE_PAYLOAD_CHARS}`;
    findings.error('PAYLOAD_TOO_LARGE', '/payload', message, 'keep large data elsewhere, and let a task fetch it');
  }
  if (trigger !== 'cron') {
    for (const key of CRON_KEYS) {
      if (definition[key] === undefined) continue;
      const message = `\`${key}\` needs \`"trigger": "cron"\``;
      findings.error('CRON_UNUSED', `/${key}`, message, 'set the trigger, or remove it');
    }
  } else if (cron === undefined) {
    const suggestion = 'add "cron_expression", e.g. "0 9 * * 1-5"';
    findings.error('CRON_REQUIRED', '/trigger', 'a cron trigger needs `cron_expression`', suggestion);
  } else if (typeof cron === 'string' && !CRON.test(cron.trim())) {
    const message = `"${cron.slice(0, 60)}" is not a cron expression: five or six fields are expected, or @daily`;
    findings.error('BAD_CRON', '/cron_expression', message, 'e.g. "0 9 * * 1-5" for nine o\'clock on weekdays');
  }
}
