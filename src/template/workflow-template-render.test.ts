import { describe, expect, it } from 'vitest';
import { evaluate } from '../core/expression/evaluate.ts';
import { parseExpression } from '../core/expression/parse.ts';
import type { Json } from '../core/json/json.ts';
import { compileTemplate } from '../core/template/compile.ts';
import { renderTemplate } from '../core/template/render.ts';
import { configReadings, renderWorkflowTemplate } from './workflow-template-render.ts';

const config = {
  channel: 'C1',
  limit: 5,
  below: -5,
  on: false,
  none: null,
  list: ['a', 'b'],
  map: { x: 1 },
  braces: 'a {{ trigger.secret }} b',
  quote: `it's "so"`,
};

/** As a parameter of a node. */
function parameter(value: Json): Json {
  const { definition, problems } = renderWorkflowTemplate({ nodes: [{ parameters: { value } }] }, config);
  expect(problems).toEqual([]);
  return (definition as { nodes: [{ parameters: { value: Json } }] }).nodes[0].parameters.value;
}

function condition(source: string): string {
  const template = { nodes: [{ edges: [{ condition: source }] }] };
  const { definition, problems } = renderWorkflowTemplate(template, config);
  expect(problems).toEqual([]);
  return (definition as typeof template).nodes[0]!.edges[0]!.condition;
}

describe('expressions that read config', () => {
  it.each<[Json, Json]>([
    ['{{ config.channel }}', 'C1'],
    ['{{config.limit}}', 5],
    ['{{ config.on }}', false],
    ['{{ config.none }}', null],
    ['{{ config.list }}', ['a', 'b']],
    ['{{ config.limit * 2 + 1 }}', 11],
    ['{{ config.missing ?? "d" }}', 'd'],
    ["{{ config.list.map(x => '- ' + x).join(' ') }}", '- a - b'],
    ['to {{ config.channel }}: {{ config.map }}{{ config.none }}', 'to C1: {"x":1}'],
    [{ deep: ['{{ config.limit }}'] }, { deep: [5] }],
  ])('the template %j becomes %j', (template, expected) => {
    expect(parameter(template)).toEqual(expected);
  });

  it.each([
    'plain',
    '{{ trigger.x }}',
    '{{trigger.config}} {{  context.data.config.y}}',
    'config.channel',
    "{{ 'config' }}",
    '{{ broken config',
    5,
    null,
  ])('the template %j stays as written', (template) => {
    expect(parameter(template)).toEqual(template);
  });

  it('text and expressions beside config stay as written', () => {
    expect(parameter('{{trigger.x}} {{ config.limit }} {{  spec.y }}')).toBe('{{trigger.x}} 5 {{  spec.y }}');
    expect(parameter('{{ trigger.channel ?? config.channel }}')).toBe('{{ trigger.channel ?? "C1" }}');
    expect(parameter('{{ context.data.a[config.channel] }}!')).toBe('{{ context.data.a["C1"] }}!');
  });
});

describe('config in a condition', () => {
  it.each([
    ['context.data.a.n > config.limit', 'context.data.a.n > 5'],
    ['context.data.a.n > {{ config.limit }}', 'context.data.a.n > 5'],
    ['trigger.kind === config.quote', `trigger.kind === ${JSON.stringify(config.quote)}`],
    ['config.list.includes(trigger.x)', '["a","b"].includes(trigger.x)'],
    ['trigger.n - config.below > config.limit.toFixed(1)', 'trigger.n - (-5) > (5).toFixed(1)'],
    ['config.map[trigger.key] === 1', '({"x":1})[trigger.key] === 1'],
    ['trigger.x === (config.missing ?? null)', 'trigger.x === (null ?? null)'],
    ['trigger.config > 1', 'trigger.config > 1'],
  ])('the condition %s becomes %s', (source, expected) => {
    expect(condition(source)).toBe(expected);
  });

  it('a filled condition has the same value as before', () => {
    const trigger = { x: 'b', n: 3, key: 'x' };
    for (const source of ['config.list.includes(trigger.x)', '-config.below > trigger.n', 'config.map[trigger.key]']) {
      const filled = parseExpression(condition(source), { roots: ['trigger'], dialect: 'javascript' });
      const before = parseExpression(source, { roots: ['trigger', 'config'], dialect: 'javascript' });
      if (!filled.ok || !before.ok) throw new Error(condition(source));
      expect(evaluate(filled.expr, { trigger })).toEqual(evaluate(before.expr, { trigger, config }));
    }
  });
});

describe('values of config', () => {
  it('braces in a value of config are text when the workflow runs', () => {
    for (const template of ['{{ config.braces }}', 'x {{ config.braces }}', '{{ [config.braces] }}']) {
      const compiled = compileTemplate(parameter(template), { roots: ['trigger'], dialect: 'javascript' });
      if (!compiled.ok) throw new Error('it does not compile');
      const rendered = JSON.stringify(renderTemplate(compiled.template, { trigger: { secret: 'S' } }));
      expect(rendered).toContain('a {{ trigger.secret }} b');
    }
  });

  it('braces in a value are not escaped where nothing is a template', () => {
    const { definition } = renderWorkflowTemplate({ description: 'About {{ config.braces }}' }, config);
    expect(definition).toEqual({ description: 'About a {{ trigger.secret }} b' });
  });

  it('a key `__proto__` stays a key (S8)', () => {
    const { definition } = renderWorkflowTemplate(JSON.parse('{"__proto__":{"polluted":"{{ config.on }}"}}'), config);
    expect(JSON.stringify(definition)).toBe('{"__proto__":{"polluted":false}}');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('problems of a template', () => {
  it('all problems of a template are reported with their places', () => {
    const template = {
      nodes: [
        {
          parameters: { a: '{{ config.missing }}', b: 'x {{ config.list.nope() }}' },
          edges: [{ condition: 'trigger.x > config.missing' }],
        },
      ],
    };
    expect(renderWorkflowTemplate(template, config).problems).toMatchObject([
      { code: 'BAD_CONFIG', path: '/nodes/0/parameters/a', message: '`config.missing` is missing in `config`' },
      { path: '/nodes/0/parameters/b' },
      { path: '/nodes/0/edges/0/condition', message: '`config.missing` is missing in `config`' },
    ]);
  });

  it('a template that is nested too deep is reported', () => {
    let deep: Json = '{{ config.on }}';
    for (let level = 0; level < 100; level++) deep = [deep];
    expect(renderWorkflowTemplate(deep, config).problems).toMatchObject([{ message: /nested deeper than 64/ }]);
  });
});

it('the names that a definition reads from config are found', () => {
  const template = {
    description: '{{ config.a }} {{ trigger.x }}',
    nodes: [{ parameters: ['{{ config }}'], edges: [{ condition: 'config.b?.c > {{ config.d }}' }] }],
  };
  expect(configReadings(template).map(({ path, name }) => [path.join('/'), name])).toEqual([
    ['description', 'a'],
    ['nodes/0/parameters/0', undefined],
    ['nodes/0/edges/0/condition', 'b'],
    ['nodes/0/edges/0/condition', 'd'],
  ]);
});
