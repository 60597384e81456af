// Reads a pipeline (002) into a draft. Checks what the schema cannot say: that a task is of exactly one type, that the
// durations and the URL make sense, and that a cron expression stands where one is needed.

import { DURATION_FORMS, MAX_DURATION_MS, parseDuration } from '../duration/duration.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import {
  DEFINITION_DEFAULTS,
  PIPELINE_MAX_DURATION_SECONDS,
  PIPELINE_RETRIES,
  PIPELINE_STEP_TIMEOUT_MS,
  pipelineRetry,
  WAITING_POLICY,
} from './defaults.ts';
import { readDependencies } from './dependency.ts';
import type { Draft, DraftEdge, DraftNode, DraftStep, ReadOptions } from './draft.ts';
import { headerNameProblem, headerValueProblem } from './http-header.ts';
import { numberIn, objectIn, textIn } from './json-read.ts';
import { childPointer } from './pointer.ts';
import type { Findings } from './problem.ts';

const STEP_KEYS = ['url', 'sleep', 'wait_for_webhook'] as const;
const HTTP_KEYS = ['method', 'headers', 'body', 'retries', 'timeout'] as const;

/** The action behind an HTTP task: as `http.request`, with the outputs and the outcomes of 002. */
const HTTP_STEP_ACTION = 'http.step';

const TEMPLATES_ARE_FOR_VALUES = 'templates are for values: write the name out';

const CRON_KEYS = ['cron_expression', 'timezone', 'catch_up'] as const;
/** The form alone: what the fields and names may be is for whoever keeps the time. */
const CRON = /^(@[a-z]+|[\d*,/?#+a-z-]+(\s+[\d*,/?#+a-z-]+){4,5})$/i;
const HTTP_URL = /^https?:\/\/(\{\{|[^\s/?#{]+([/?#]|\{\{|$))/i;
const URL_WITH_CREDENTIALS = /^https?:\/\/[^/?#]*@/i;

/** An `if` may be null (002), and so may the rest: it is the same as saying nothing. Only a body of null is a body. */
export function withoutNulls(definition: JsonObject): JsonObject {
  const given = present(definition);
  if (!isJsonObject(given.tasks)) return given;
  const tasks = Object.entries(given.tasks).map(([name, task]) => [name, isJsonObject(task) ? givenTask(task) : task]);
  return { ...given, tasks: Object.fromEntries(tasks) as JsonObject };
}

function givenTask(task: JsonObject): JsonObject {
  const given = present(task);
  const wait = given.wait_for_webhook;
  return isJsonObject(wait) ? { ...given, wait_for_webhook: present(wait) } : given;
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
    edges.push(...readDependencies(raw.needs, nodes.length, `${at}/needs`, when, findings));
    nodes.push(readTask(name, raw, at, findings));
  }
  if (isJsonObject(definition.tasks) && nodes.length === 0) {
    findings.error('OUT_OF_RANGE', '/tasks', 'must not be empty', 'add at least one task');
  }
  checkCron(definition, findings);
  return {
    format: 'pipeline',
    id: textIn(definition.name) ?? '',
    startNode: null,
    nodes,
    edges,
    onUnhandledFailure: 'continue',
    timeoutMs: numberIn(definition.max_duration_seconds, PIPELINE_MAX_DURATION_SECONDS) * 1_000,
    outputs: null,
    vars: {},
    scope: {},
    snapshot,
    namedVersion: null,
  };
}

function readTask(name: string, raw: JsonObject, at: string, findings: Findings): DraftNode {
  const step = readStep(raw, at, findings);
  const isHttp = step?.kind === 'action';
  const condition = textIn(raw.if);
  return {
    id: name,
    at,
    idAt: at,
    step,
    actionAt: null,
    parameters: isHttp ? { value: httpParameters(raw), at } : null,
    policy: isHttp ? httpPolicy(raw) : WAITING_POLICY,
    join: condition === null ? 'all' : 'resolved',
    condition: condition === null ? null : { value: condition, at: `${at}/if`, on: null },
    routePolicy: 'parallel',
    dispatch: null,
  };
}

function readStep(raw: JsonObject, at: string, findings: Findings): DraftStep | null {
  const present = STEP_KEYS.filter((key) => raw[key] !== undefined);
  if (present.length === 0) {
    const suggestion = 'add one of `url`, `sleep` and `wait_for_webhook`';
    findings.error('MISSING_STEP_TYPE', at, 'a task needs something to do', suggestion);
    return null;
  }
  const [key] = present;
  const conflicting = [
    ...present.slice(1),
    ...(key === 'url' ? [] : HTTP_KEYS.filter((name) => raw[name] !== undefined)),
  ];
  for (const other of conflicting) {
    const message = `\`${other}\` cannot stand beside \`${key}\`: a task is an HTTP call, a sleep or a wait for a webhook`;
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
  }
}

function readHttp(raw: JsonObject, at: string, findings: Findings): DraftStep {
  const url = textIn(raw.url);
  // What stands before the first template must already look like a URL; a URL that begins with one is judged when it runs.
  if (url !== null && !url.startsWith('{{')) {
    if (!HTTP_URL.test(url)) {
      findings.error('BAD_URL', `${at}/url`, `"${url.slice(0, 100)}" is not an http or https URL`);
    } else if (URL_WITH_CREDENTIALS.test(url)) {
      findings.error('BAD_URL', `${at}/url`, 'the URL contains credentials', 'send them in a header instead');
    }
  }
  checkHeaders(objectIn(raw.headers), `${at}/headers`, findings);
  checkKeys(raw.body ?? null, `${at}/body`, findings);
  return { kind: 'action', actionType: HTTP_STEP_ACTION };
}

/** What would fail every run. A value with a template is judged when it runs. */
function checkHeaders(headers: JsonObject, at: string, findings: Findings): void {
  for (const [name, value] of Object.entries(headers)) {
    const text = textIn(value) ?? '';
    const problem = headerNameProblem(name) ?? (text.includes('{{') ? null : headerValueProblem(text));
    if (problem === null) continue;
    const suggestion = name.includes('{{') ? TEMPLATES_ARE_FOR_VALUES : undefined;
    findings.error('BAD_HEADER', childPointer(at, name), `\`${name.slice(0, 100)}\` ${problem}`, suggestion);
  }
}

/** A template in the name of a field would be sent as it stands. */
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

/** Text, or seconds as a number. Other types are the schema's to report. */
function readDuration(value: Json, at: string, findings: Findings): number | null {
  const ms =
    typeof value === 'number' ? Math.round(value * 1_000) : typeof value === 'string' ? parseDuration(value) : 0;
  if (ms !== null && ms <= MAX_DURATION_MS) return ms;
  const message = `${JSON.stringify(value).slice(0, 60)} is not a duration of at most ten years`;
  findings.error('BAD_DURATION', at, message, `write ${DURATION_FORMS}, or seconds as a number`);
  return null;
}

/** The names are those of the task, so a place in the parameters is a place in the task. */
function httpParameters(raw: JsonObject): JsonObject {
  const parameters: JsonObject = { url: textIn(raw.url) ?? '', method: textIn(raw.method) ?? 'POST' };
  if (raw.headers !== undefined) parameters.headers = objectIn(raw.headers);
  if (raw.body !== undefined) parameters.body = raw.body;
  return parameters;
}

function httpPolicy(raw: JsonObject): DraftNode['policy'] {
  return {
    timeoutMs: numberIn(raw.timeout, PIPELINE_STEP_TIMEOUT_MS),
    rerenderOnRetry: false,
    retry: pipelineRetry(numberIn(raw.retries, PIPELINE_RETRIES)),
  };
}

function checkCron(definition: JsonObject, findings: Findings): void {
  const { trigger, cron_expression: cron } = definition;
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
