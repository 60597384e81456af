// The program of a rendering process: one job after the other, each answered by a value. It holds nothing worth stealing: no
// environment, no connections, only the text of the job. Its parent stops it when it takes too long; if the parent is gone, a
// watchdog does.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Context, type Template, toValue, toValueSync } from 'liquidjs';
import { RecentCache } from '../../core/cache/recent-cache.ts';
import type { Json, JsonObject } from '../../core/json/json.ts';
import type { Problem } from '../../core/problem/problem.ts';
import { compileSuppliedSchema, type SuppliedSchema } from '../supplied-schema.ts';
import { causeOf, createLanguage, errorsIn, problemsIn } from './liquid-language.ts';
import {
  MAX_STRETCH,
  type ProcessOptions,
  READY,
  type RenderJob,
  type RenderOutcome,
  WATCHDOG_MS,
} from './render-job.ts';

const options = JSON.parse(process.argv[2]!) as ProcessOptions;
const liquid = createLanguage(options);
const CACHED_CHARS = 1_000_000;
const bodies = new RecentCache<Template[]>(CACHED_CHARS);
const schemas = new RecentCache<SuppliedSchema>(CACHED_CHARS);
const parsed = (body: string) => bodies.getOrMake(body, body.length, () => liquid.parse(body));
const schemaOf = (text: string) =>
  schemas.getOrMake(text, text.length, () => compileSuppliedSchema(JSON.parse(text) as JsonObject));

/** The watchdog reads this: the number of the current job, or 0. */
const current = new Int32Array(new SharedArrayBuffer(4));
let jobs = 0;

process.on('disconnect', () => process.exit());
const program = import.meta.url.endsWith('.ts')
  ? new URL('./render-watchdog.ts', import.meta.url)
  : new URL('./render-watchdog.js', import.meta.url);
const watchdog = new Worker(program, {
  workerData: { current, limitMs: options.timeoutMs * MAX_STRETCH + WATCHDOG_MS },
});
await once(watchdog, 'online');
watchdog.unref();
// The one-time cost of the first check must not count as a job's time.
valueProblems(JSON.stringify({ properties: { x: { type: 'string', pattern: 'x' } } }), { x: 'x' });

process.on('message', (job: RenderJob) => {
  jobs = (jobs % 1_000_000) + 1;
  announce(jobs);
  const outcome = run(job);
  announce(0);
  process.send!(outcome);
});
process.send!(READY);

function announce(job: number): void {
  Atomics.store(current, 0, job);
  Atomics.notify(current, 0);
}

function run(job: RenderJob): RenderOutcome {
  switch (job.kind) {
    case 'render':
      return render(job);
    case 'checkBody':
      return { kind: 'checked', problems: bodyProblems(job.body) };
    case 'checkSchema':
      return { kind: 'checked', problems: schemaProblems(job.schema) };
    case 'checkValue':
      return { kind: 'checked', problems: valueProblems(job.schema, JSON.parse(job.value) as Json) };
  }
}

function render({ body, answersSchema, answers: answersText, extras }: RenderJob & { kind: 'render' }): RenderOutcome {
  const answers = JSON.parse(answersText) as JsonObject;
  const problems = answersSchema === null ? [] : valueProblems(answersSchema, answers);
  if (problems.length > 0) return { kind: 'refused', code: 'WFENG005', message: 'the answers are not valid', problems };
  try {
    const output = new BoundedOutput(options.outputLimitBytes);
    const scope = scopeOf(answers, JSON.parse(extras) as JsonObject);
    const context = new Context(scope, liquid.options, { sync: true }, { liquid });
    toValueSync(liquid.renderer.renderTemplates(parsed(body), context, output));
    return { kind: 'rendered', body: output.buffer };
  } catch (thrown) {
    return refusal(thrown);
  }
}

/** `answers`, `extras`, and each answer by its own name. */
function scopeOf(answers: JsonObject, extras: JsonObject): object {
  return Object.assign(Object.create(null) as object, answers, { answers, extras });
}

function refusal(thrown: unknown): RenderOutcome {
  const causes = errorsIn(thrown).map(causeOf);
  if (causes.some((cause) => cause instanceof OutputTooLarge)) {
    const message = `the document is larger than ${options.outputLimitBytes} bytes`;
    return { kind: 'refused', code: 'OUTPUT_TOO_LARGE', message };
  }
  const isLate = (cause: unknown) => cause instanceof Error && cause.message === 'template render limit exceeded';
  if (causes.some(isLate)) {
    const message = `this takes longer than the ${options.timeoutMs} ms it may`;
    return { kind: 'refused', code: 'TEMPLATE_TIMEOUT', message };
  }
  return {
    kind: 'refused',
    code: 'TEMPLATE_ERROR',
    message: 'the document cannot be rendered',
    problems: problemsIn(thrown),
  };
}

function bodyProblems(body: string): Problem[] {
  try {
    parsed(body);
    return [];
  } catch (thrown) {
    return problemsIn(thrown);
  }
}

function schemaProblems(schema: string): Problem[] {
  try {
    schemaOf(schema);
    return [];
  } catch (thrown) {
    const message = `is not a JSON Schema: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
    return [{ code: 'SCHEMA_INVALID', path: '', message }];
  }
}

function valueProblems(schema: string, value: Json): Problem[] {
  const wrong = schemaProblems(schema);
  return wrong.length > 0 ? wrong : schemaOf(schema)(value);
}

/** The target of a rendering: text up to a number of bytes, then an error, before more memory is spent. */
class OutputTooLarge extends Error {}

class BoundedOutput {
  buffer = '';
  private left: number;

  constructor(limitBytes: number) {
    this.left = limitBytes;
  }

  write(value: unknown): void {
    const text = textOf(value);
    this.left -= Buffer.byteLength(text);
    if (this.left < 0) throw new OutputTooLarge();
    this.buffer += text;
  }
}

/** As Liquid writes it; objects, which Liquid cannot show, as JSON. */
function textOf(value: unknown): string {
  const plain: unknown = toValue(value);
  if (typeof plain === 'string') return plain;
  if (plain === null || plain === undefined) return '';
  if (Array.isArray(plain)) return plain.map(textOf).join('');
  return typeof plain === 'object' ? JSON.stringify(plain) : String(plain);
}
