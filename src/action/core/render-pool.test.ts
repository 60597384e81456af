// The language of documents in its processes: what it can say, what it cannot reach (S3), and that no document holds anybody up
// (S4).

import { afterAll, describe, expect, it } from 'vitest';
import { PawlError } from '../../core/error/pawl-error.ts';
import type { JsonObject } from '../../core/json/json.ts';
import type { DocumentRenderer } from '../document-renderer.ts';
import { createRenderPool, type RenderPoolOptions } from './render-pool.ts';

const pools: DocumentRenderer[] = [];
afterAll(() => Promise.all(pools.map((pool) => pool.close())));

function poolWith(options: Partial<RenderPoolOptions> = {}): DocumentRenderer {
  const limits = {
    allowLoops: false,
    strict: true,
    nullText: '',
    timeoutMs: 2_000,
    memoryMb: 64,
    outputLimitBytes: 1024 * 1024,
    processes: 1,
  };
  const pool = createRenderPool({ ...limits, ...options });
  pools.push(pool);
  return pool;
}

const strict = poolWith();
const looping = poolWith({ allowLoops: true, timeoutMs: 1_000 });

const answers = { title: 'Apollo', tags: ['a', 'b'], owner: { name: 'Ada' }, none: null };
const turn = { tenantId: 'acme' };

function render(body: string, pool = strict, given: JsonObject = answers): Promise<string> {
  return pool.render({ body, answersSchema: null, answers: given, extras: { site: 'x' } }, turn);
}

async function refusal(work: Promise<unknown>): Promise<PawlError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof PawlError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('the style of an installation', () => {
  const styled = poolWith({ strict: false, nullText: 'n/a' });

  it('the style sets the text for null, and whether a missing value counts as null', async () => {
    expect(await render('{{ none }} {{ answers.nobody.name }} {{ title }} {{ tags }}', styled)).toBe(
      'n/a n/a Apollo ab',
    );
    expect(await render('{{ none | default: "-" }}', styled)).toBe('-');
    expect(await render('[{{ none }}]', poolWith({ nullText: '0' }))).toBe('[0]');
  });
});

describe('a document', () => {
  it.each([
    ['<h1>{{ answers.title }}</h1>', '<h1>Apollo</h1>'],
    ['{{ title }} of {{ owner.name }} at {{ extras.site }}', 'Apollo of Ada at x'],
    ['{{ title | upcase | append: "!" }}', 'APOLLO!'],
    ['{% if note %}{{ note }}{% else %}no note{% endif %}', 'no note'],
    ['{{ note | default: "none" }}', 'none'],
    ['[{{ none }}]', '[]'],
    ['{{ tags | join: ", " }} {{ tags }} {{ owner }}', 'a, b ab {"name":"Ada"}'],
    ['{% case title %}{% when "Apollo" %}1{% else %}2{% endcase %}', '1'],
    ['{{ "2025-12-01T23:30:00Z" | date: "%d %B %Y %H:%M" }}', '01 December 2025 23:30'],
    ['{% raw %}{{ title }}{% endraw %}', '{{ title }}'],
    ['{% liquid\n  assign x = title | size\n  echo x %}', '6'],
    ['{% capture x %}{{ title }}s{% endcapture %}{{ x }}', 'Apollos'],
  ])('a document renders its answers: %s', async (body, expected) => {
    expect(await render(body)).toBe(expected);
  });

  it('`answers` and `extras` keep their meaning when an answer has the same name', async () => {
    const given = { answers: 'x', extras: 'y', own: 'z' };
    expect(await render('{{ answers.own }}{{ extras.site }}{{ own }}', strict, given)).toBe('zxz');
  });

  it('a document reports all missing values at once, with their places', async () => {
    const error = await refusal(render('Dear {{ reader }},\n\n  {{ owner.mail }}'));
    expect(error).toMatchObject({
      code: 'TEMPLATE_ERROR',
      details: [
        { line: 1, column: 9 },
        { line: 3, column: 6 },
      ],
    });
    expect(error.message).toMatch(/`reader` is not given.*\(line 1, column 9\), and 1 more$/);
  });

  it.each([
    ['{{ title', 'output "{{ title" not closed'],
    ['{% if title %}', 'tag {% if title %} not closed'],
    ['{% nothing %}', 'tag "nothing" not found'],
    ['{{ title | nothing }}', 'undefined filter: nothing'],
  ])('the body %s is refused with its line and column', async (body, message) => {
    const [problem, ...more] = await strict.checkBody(`one\n${body}`, turn);
    expect({ problem, more }).toMatchObject({ problem: { message, line: 2, column: 1 }, more: [] });
  });

  it('a document is checked against the full schema of its answers', async () => {
    const answersSchema = { required: ['goal'], properties: { title: { type: 'integer' } } };
    const error = await refusal(strict.render({ body: '', answersSchema, answers, extras: {} }, turn));
    expect(error.code).toBe('WFENG005');
    expect(error.details).toMatchObject([{ code: 'REQUIRED' }, { code: 'TYPE', path: '/title' }]);
  });
});

describe('limits of what a document can reach', () => {
  it.each([
    ['include', '{% include "a" %}'],
    ['render', "{% render '../../package.json' %}"],
    ['layout', '{% layout "a" %}'],
    ['block', '{% block a %}{% endblock %}'],
    ['for', '{% for i in (1..2) %}{{ i }}{% endfor %}'],
    ['tablerow', '{% tablerow i in (1..2) %}{% endtablerow %}'],
    ['for', '{% liquid for i in (1..2)\n endfor %}'],
    ['include', '{% if title %}{% include "a" %}{% endif %}'],
  ])('the tag `%s` is refused by its name: %s', async (tag, body) => {
    const problems = await strict.checkBody(body, turn);
    expect(problems).toHaveLength(1);
    expect(problems).toMatchObject([{ code: 'TAG_REFUSED', message: expect.stringContaining(`\`${tag}\``), line: 1 }]);
  });

  it('a document with loops still has no partials', async () => {
    expect(await looping.checkBody('{% include "a" %}', turn)).toMatchObject([{ code: 'TAG_REFUSED' }]);
    expect(await render('{% for tag in tags %}{{ tag }};{% endfor %}', looping)).toBe('a;b;');
  });

  it.each([
    'constructor',
    'answers.constructor',
    'answers.__proto__',
    'answers.title.constructor',
    'answers["constructor"]["constructor"]',
    'answers.tags.map',
    'answers.toString',
    'process',
    'globalThis',
    'require',
  ])('{{ %s }} cannot be reached', async (expression) => {
    expect((await refusal(render(`{{ ${expression} }}`))).code).toBe('TEMPLATE_ERROR');
  });

  it.each(['{{ "now" | date: "%Y" }}', '{{ "today" | date_to_string }}', '{% assign n = "now" %}{{ n | date: "%s" }}'])(
    'a document has no clock: %s',
    async (body) => {
      expect((await refusal(render(body))).message).toContain('give the time as an answer or in `extras`');
    },
  );

  it.each(['{{ tags | shuffle }}', '{{ tags | sample }}'])('a document has no randomness: %s', async (body) => {
    expect((await refusal(render(body))).message).toContain('undefined filter');
  });

  it('no answer and no variable changes a prototype (S8)', async () => {
    const hostile = JSON.parse('{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}');
    const body = '{% assign __proto__ = answers %}{{ polluted | default: "no" }}{{ answers.polluted | default: "no" }}';
    expect(await render(body, strict, hostile)).toBe('nono');
    expect(await render('{{ polluted | default: "no" }}')).toBe('no');
  });
});

describe('documents that try to use up time or memory', () => {
  const doubled = (tag: string) => `{% assign s = "0123456789" %}${tag.repeat(40)}{{ s }}`;
  const deep = '{% if true %}'.repeat(20_000);
  const nothing = '{% if true %}{% endif %}'.repeat(20);

  it.each<[string, string, string]>([
    // Two ranges that just fit into the memory limit, so that only the time limit can end them.
    [
      'nested loops',
      `{% for i in (1..1990) %}{% for j in (1..1990) %}${nothing}{% endfor %}{% endfor %}`,
      'TEMPLATE_TIMEOUT',
    ],
    ['a range', '{% for i in (1..1000000000) %}{% endfor %}', 'TEMPLATE_ERROR'],
    ['much output', `{% for i in (1..9999) %}${'x'.repeat(200)}{% endfor %}`, 'OUTPUT_TOO_LARGE'],
    ['append', doubled('{% assign s = s | append: s %}'), 'TEMPLATE_ERROR'],
    ['capture', doubled('{% capture s %}{{ s }}{{ s }}{% endcapture %}'), 'TEMPLATE_ERROR'],
    ['replace', doubled('{% assign s = s | replace: "0", s %}'), 'TEMPLATE_ERROR'],
    ['concat', `{% assign a = tags %}${'{% assign a = a | concat: a %}'.repeat(40)}`, 'TEMPLATE_ERROR'],
    ['a wide date', '{{ "2025-01-01" | date: "%999999999Y" }}', 'TEMPLATE_ERROR'],
  ])('a document that exceeds its limits is stopped: %s', async (_name, body, code) => {
    expect((await refusal(render(body, looping))).code).toBe(code);
    expect(await render('{{ title }}', looping)).toBe('Apollo');
  });

  it('a large product stays a number', async () => {
    expect(await render('{{ 999999999 | times: 999999999 | times: 999999999 }}')).toMatch(/^[\d.e+]+$/);
  });

  it('a job that ignores its limits is stopped from outside, and its process replaced', async () => {
    const pool = poolWith({ timeoutMs: 500 });
    const answersSchema = { properties: { title: { type: 'string', pattern: '^(a+)+$' } } };
    const endless = { body: '', answersSchema, answers: { title: `${'a'.repeat(50)}!` }, extras: {} };
    expect((await refusal(pool.render(endless, turn))).code).toBe('TEMPLATE_TIMEOUT');
    expect(['TEMPLATE_TIMEOUT', 'TEMPLATE_ERROR']).toContain((await refusal(render(deep, pool))).code);
    expect(await render('{{ title }}', pool)).toBe('Apollo');
  });

  it('a job that needs too much memory ends only its own process, with an error that names the limit', async () => {
    const pool = poolWith({ memoryMb: 24 });
    expect(await render('{{ title }}', pool)).toBe('Apollo');
    const error = await refusal(render('{% assign a = (1..3900000) %}{{ a | size }}', pool));
    expect(error).toMatchObject({ code: 'TEMPLATE_ERROR', message: expect.stringContaining('24 MB') });
    expect(await render('{{ title }}', pool)).toBe('Apollo');
  });

  it('a long rendering does not block the event loop', async () => {
    let turns = 0;
    const ticking = setInterval(() => turns++, 1);
    await refusal(render('{% for i in (1..99999) %}{% for j in (1..99999) %}{% endfor %}{% endfor %}', looping));
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(1);
  });
});

describe('the render pool', () => {
  it('the pool renders many documents at once, without mixing them up', async () => {
    const pool = poolWith({ processes: 2 });
    const numbers = Array.from({ length: 100 }, (_, n) => n);
    const rendered = await Promise.all(numbers.map((n) => render('{{ n }}', pool, { n })));
    expect(rendered).toEqual(numbers.map(String));
  });

  it('the pool lets tenants take turns', async () => {
    const pool = poolWith();
    const finished: string[] = [];
    const document = { body: 'x', answersSchema: null, answers: {}, extras: {} };
    const work = ['a', 'a', 'a', 'a', 'b'].map(async (tenantId) => {
      await pool.render(document, { tenantId });
      finished.push(tenantId);
    });
    await Promise.all(work);
    expect(finished).toEqual(['a', 'a', 'b', 'a', 'a']);
  });

  it('the pool refuses a job when too many wait, and a job that was aborted', async () => {
    const pool = poolWith({ maxWaiting: 1 });
    const controller = new AbortController();
    const first = render('1', pool);
    const second = pool.render(
      { body: '2', answersSchema: null, answers: {}, extras: {} },
      { ...turn, signal: controller.signal },
    );
    expect(await refusal(render('3', pool))).toMatchObject({ code: 'UNAVAILABLE' });
    controller.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    expect(await first).toBe('1');
    const late = { body: '4', answersSchema: null, answers: {}, extras: {} };
    await expect(pool.render(late, { ...turn, signal: controller.signal })).rejects.toThrow('enough');
    expect(await render('5', pool)).toBe('5');
  });

  it('a pool that is closed gives up the waiting jobs', async () => {
    const pool = poolWith();
    const first = refusal(render('{{ title }}', pool)).catch((error: Error) => error.message);
    const second = refusal(render('{{ title }}', pool));
    await pool.close();
    expect(await first).toBe('the rendering process ended');
    expect(await second).toMatchObject({ code: 'UNAVAILABLE' });
    expect(await refusal(render('x', pool))).toMatchObject({ code: 'UNAVAILABLE' });
  });
});
