// Random pipelines: the definition to post, and its meaning (reading.ts). The path of a call tells the called application what to
// answer.

import type { ServerResponse } from 'node:http';
import type { ReceivedRequest } from '../../src/action/http/server.testing.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/core/json/json.ts';
import type { Random } from '../chaos/random.ts';
import { type Meaning, Refusal, type View } from './reading.ts';

export interface RandomPipeline {
  readonly tasks: JsonObject;
  readonly meaning: Map<string, Meaning>;
}

type Look = (name: string) => View;
interface Condition {
  readonly text: string;
  readonly holds: (view: View) => boolean;
}

export const TRIGGER = { 'a-b': 'hyphen', list: [{ v: 1 }], nothing: null };
const LARGE = JSON.stringify({ v: 1, pad: 'x'.repeat(300_000) });
const LIMIT = 256 * 1024;

export function randomPipeline(random: Random, app: string): RandomPipeline {
  const tasks: JsonObject = {};
  const meaning = new Map<string, Meaning>();
  const upstream = new Map<string, Set<string>>();
  const size = random.whole(3, 9);
  for (let index = 0; index < size; index++) {
    const name = random.pick([`t-${index}`, `t${index}`]);
    const needs = [...upstream.keys()].filter(() => random.chance(0.35));
    const before = new Set(needs.flatMap((need) => [need, ...upstream.get(need)!]));
    upstream.set(name, before);
    const read = before.size > 0 ? random.pick([...before]) : null;
    const condition = read !== null && random.chance(0.5) ? random.pick(conditionsOn(read)) : null;
    const { task, run } = randomStep(random, app, read);
    tasks[name] = { ...(needs.length > 0 ? { needs } : {}), ...(condition ? { if: condition.text } : {}), ...task };
    meaning.set(name, { needs, holds: condition && ((view: Look) => condition.holds(view(read!))), run });
    if (isJsonObject(task.wait_for_webhook) && task.wait_for_webhook.timeout === '1h') {
      tasks[`call-${name}`] = { url: `${app}/callback`, body: `{{wait.${name}.url}}` };
    }
  }
  return { tasks, meaning };
}

function conditionsOn(name: string): Condition[] {
  const at = `tasks.${name}`;
  const field = ({ body }: View): Json | undefined => (isJsonObject(body) ? body.v : undefined);
  const statuses = ['success', 'skipped', 'failed', 'timeout', 'received', 'template_error'].map(
    (status): Condition => ({ text: `${at}.status == '${status}'`, holds: (view) => view.status === status }),
  );
  return [
    ...statuses,
    { text: `${at}.status_code == 200`, holds: (view) => view.status_code === 200 },
    { text: `${at}.status_code != 200`, holds: (view) => view.status_code !== 200 },
    { text: `${at}.status_code < 400`, holds: (view) => view.status_code !== null && view.status_code < 400 },
    { text: `${at}.body.v == 1`, holds: (view) => field(view) === 1 },
    { text: `${at}.body == null`, holds: (view) => view.body === null },
  ];
}

interface RandomStep {
  readonly task: JsonObject;
  readonly run: Meaning['run'];
}

function randomStep(random: Random, app: string, read: string | null): RandomStep {
  const nothing = { status_code: null, body: null };
  const kind = random.weighted({ call: 6, text: 1, large: 1, sleep: 2, received: 1, late: 1 });
  switch (kind) {
    case 'call':
      return randomCall(random, app, read);
    case 'text':
      return { task: { url: `${app}/text` }, run: () => ({ status: 'success', status_code: 200, body: 'just text' }) };
    case 'large': {
      const view = { status: 'success', status_code: 200, body: LARGE.slice(0, LIMIT), truncated: true };
      return { task: { url: `${app}/large` }, run: () => view };
    }
    case 'sleep':
      return { task: { sleep: random.pick([0, '5ms', 0.02]) }, run: () => ({ status: 'success', ...nothing }) };
    case 'received': {
      const run = () => ({ status: 'received', status_code: null, body: { v: 1 } });
      return { task: { wait_for_webhook: { timeout: '1h' } }, run };
    }
    case 'late':
      return { task: { wait_for_webhook: { timeout: '10ms' } }, run: () => ({ status: 'timeout', ...nothing }) };
  }
}

function randomCall(random: Random, app: string, read: string | null): RandomStep {
  const code = random.pick([200, 200, 200, 201, 302, 404]);
  const { text, value } = random.pick([...ofTrigger(), ...(read === null ? [] : ofTask(read))]);
  const run = (view: Look): View => {
    const status = code < 300 ? 'success' : 'failed';
    const sent = { v: value(view) };
    const answer = JSON.stringify(sent);
    if (answer.length <= LIMIT) return { status, status_code: code, body: sent };
    return { status, status_code: code, body: answer.slice(0, LIMIT), truncated: true };
  };
  return { task: { url: `${app}/echo/${code}`, body: { v: text } }, run };
}

interface Value {
  readonly text: Json;
  readonly value: (view: Look) => Json;
}

function ofTrigger(): Value[] {
  return [
    { text: 1, value: () => 1 },
    { text: '{{trigger.body.a-b}}!', value: () => 'hyphen!' },
    { text: '{{trigger.body.list.0.v}}', value: () => 1 },
    { text: '{{trigger.body.nothing}}', value: () => null },
    { text: '{{trigger.body.nothing}}?', value: () => refuse(holeIn('trigger.body.nothing')) },
    { text: '{{trigger.body.missing}}', value: () => refuse('Failed to resolve {{trigger.body.missing}}') },
  ];
}

function ofTask(name: string): Value[] {
  return [
    { text: `{{tasks.${name}.status}}`, value: (view) => view(name).status },
    { text: `{{tasks.${name}.status_code}}`, value: (view) => view(name).status_code },
    { text: `{{tasks.${name}.status_code}}!`, value: (view) => codeText(view(name), name) },
    { text: `{{tasks.${name}.body}}`, value: (view) => view(name).body },
    { text: `{{tasks.${name}.body.v}}`, value: (view) => fieldOf(view(name), name) },
  ];
}

const holeIn = (path: string) =>
  `Failed to resolve {{${path}}}: it is null, and would leave a hole in the text; give a default with \`??\``;

const codeText = ({ status_code: code }: View, name: string): string =>
  code === null ? refuse(holeIn(`tasks.${name}.status_code`)) : `${code}!`;

function fieldOf({ body, truncated }: View, name: string): Json {
  const limit = `the response from '${name}' exceeded the 256KB limit and was truncated`;
  if (truncated) return refuse(`Cannot read 'body.v' because ${limit}`);
  const value = isJsonObject(body) ? body.v : undefined;
  return value === undefined ? refuse(`Failed to resolve {{tasks.${name}.body.v}}`) : value;
}

function refuse(message: string): never {
  throw new Refusal(message);
}

/** The application that the pipelines call. */
export function answerRequest({ path, body }: ReceivedRequest, response: ServerResponse): void {
  const [, kind, code] = path.split('/');
  switch (kind) {
    case 'echo':
      response.writeHead(Number(code)).end(body);
      return;
    case 'text':
      response.end('just text');
      return;
    case 'large':
      response.end(LARGE);
      return;
    case 'callback':
      void fetch(body, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"v":1}' });
      response.end();
  }
}
