import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileDefinition, detectFormat } from './compile.ts';
import { call, codesOf, compiled, graph, node, pipeline, plan, problemsOf, step, to } from './definition.testing.ts';

const EXAMPLES = join(import.meta.dirname, '../../../examples');

const examples = (['graph', 'pipeline', 'plan'] as const).flatMap((format) =>
  readdirSync(join(EXAMPLES, format))
    .filter((name) => name.endsWith('.json') && !name.endsWith('.test.json'))
    .map((name) => {
      const definition: unknown = JSON.parse(readFileSync(join(EXAMPLES, format, name), 'utf8'));
      return { format, name, definition };
    }),
);

describe('every example', () => {
  it.each(examples)('the example compiles: $format/$name', ({ format, definition }) => {
    expect(compileDefinition(definition)).toMatchObject({ ok: true, format, warnings: [] });
  });

  it('the plan of every example survives JSON unchanged', () => {
    for (const { definition } of examples) {
      const compiledPlan = compiled(definition);
      expect(JSON.parse(JSON.stringify(compiledPlan))).toEqual(compiledPlan);
    }
  });
});

describe('the format', () => {
  it('the format is detected by the field that holds the nodes', () => {
    expect(detectFormat({ nodes: 5, tasks: 5 })).toBe('graph');
    expect(detectFormat({ tasks: {} })).toBe('pipeline');
    expect(detectFormat({ steps: [], metadata: {} })).toBe('plan');
    for (const other of [{}, { steps: [] }, { metadata: {} }, [], null, 'nodes', undefined, { nodez: [] }]) {
      expect(detectFormat(other)).toBeNull();
    }
  });

  it('a definition of an unknown format is refused, and a similar field name is suggested', () => {
    expect(compileDefinition({ id: 'x', node: [] })).toEqual({
      ok: false,
      format: null,
      problems: [
        {
          code: 'UNKNOWN_FORMAT',
          path: '',
          message:
            'not a definition: a graph has `nodes`, a pipeline `tasks`, an execution plan `metadata` and `steps`, a lifecycle `states` and `transitions`',
          suggestion: 'did you mean `nodes`?',
        },
      ],
    });
    expect(problemsOf('text')).toEqual([
      { code: 'UNKNOWN_FORMAT', path: '', message: 'a workflow definition is a JSON object' },
    ]);
  });
});

describe('limits', () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`t${index}`, call()]));

  it('a definition has at most a thousand nodes by default', () => {
    expect(codesOf(pipeline(many(1_000)))).toEqual([]);
    expect(problemsOf(pipeline(many(1_001)))).toMatchObject([
      { code: 'TOO_MANY_NODES', path: '/tasks', message: 'there are 1001 tasks; the limit is 1000' },
    ]);
    expect(codesOf(graph([node('a', to('b')), node('b')]), { maxNodes: 1 })).toEqual(['TOO_MANY_NODES /nodes']);
    expect(codesOf({ id: 'a', displayName: 'a', startNode: 'a', nodes: null })).toEqual([
      'WRONG_TYPE /nodes',
      'UNKNOWN_NODE /startNode',
    ]);
  });

  it('a definition has at most twenty thousand edges', () => {
    const steps = Array.from({ length: 202 }, (_, index) =>
      step(`s${index}`, { dependsOn: Array.from({ length: index }, (_none, other) => `s${other}`) }),
    );
    expect(codesOf(plan(steps))).toEqual(['TOO_MANY_EDGES ']);
    expect(codesOf(plan(steps.slice(0, 200)))).toEqual([]);
  });

  it('at most a thousand problems are listed, and the rest are counted', () => {
    const nodes = Array.from({ length: 501 }, (_, index) => ({ id: `n${index}` }));
    const problems = problemsOf(graph(nodes, { startNode: 'n0' }));
    expect(problems).toHaveLength(1_001);
    expect(problems.at(-1)).toEqual({ code: 'MORE_PROBLEMS', path: '', message: 'and 1 more problem' });
  });

  it('only the first 200 wrong names get a suggestion', () => {
    const edges = Array.from({ length: 300 }, () => ({ targetNode: 'chrage' }));
    const problems = problemsOf(graph([node('charge', { edges })], { startNode: 'charge' }));
    expect(problems.filter(({ suggestion }) => suggestion !== undefined)).toHaveLength(200);
  });
});

describe('actions', () => {
  const actions = new Set(['core.echo', 'slack.post-message']);

  it('an unknown action is refused, and a similar name is suggested', () => {
    expect(problemsOf(graph([node('a', { actionType: 'slack.post-mesage' })]), { actions })).toEqual([
      {
        code: 'UNKNOWN_ACTION',
        path: '/nodes/0/actionType',
        message: 'there is no action `slack.post-mesage`',
        suggestion: 'did you mean `slack.post-message`?',
      },
    ]);
    expect(problemsOf(plan([step('a', { type: 'DBT_RUN' })]), { actions })).toMatchObject([
      { code: 'UNKNOWN_ACTION', path: '/steps/0/type', suggestion: expect.stringContaining('--actions') },
    ]);
    expect(codesOf(graph([node('a')]), { actions })).toEqual([]);
  });

  it('an unknown action is only a warning when the server may know it', () => {
    const options = { actions, mayBeElsewhere: (type: string) => type.startsWith('crm.') };
    expect(compileDefinition(graph([node('a', { actionType: 'crm.find' })]), options)).toMatchObject({
      ok: true,
      warnings: [{ code: 'UNKNOWN_ACTION', path: '/nodes/0/actionType' }],
    });
    expect(codesOf(graph([node('a', { actionType: 'sms.send' })]), options)).toEqual([
      'UNKNOWN_ACTION /nodes/0/actionType',
    ]);
  });

  it('delays, subworkflows and pipelines need no known action', () => {
    const delay = node('a', { actionType: 'core.delay', parameters: { durationMs: 1 }, ...to('b') });
    const child = { id: 'b', nodeType: 'subworkflow', workflowId: 'x' };
    expect(codesOf(graph([delay, child]), { actions })).toEqual([]);
    expect(codesOf(pipeline({ a: call() }), { actions })).toEqual([]);
  });
});

describe('arbitrary input to the compiler', () => {
  const word = fc.constantFrom(
    'a',
    'b',
    'c',
    'trigger.x',
    '{{ context.data.a }}',
    '{{ tasks.b }}',
    '{{',
    '5m',
    '',
    'on',
  );
  const field = fc.constantFrom(
    ...[
      'id',
      'name',
      'stepId',
      'displayName',
      'startNode',
      'nodes',
      'tasks',
      'steps',
      'metadata',
      'edges',
      'targetNode',
    ],
    ...['condition', 'when', 'if', 'needs', 'dependsOn', 'parameters', 'inputs', 'url', 'sleep', 'wait_for_webhook'],
    ...[
      'timeout',
      'type',
      'actionType',
      'nodeType',
      'policies',
      'retry',
      'snapshot',
      'keysToInclude',
      'onFailure',
      'a',
    ],
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 6, depthSize: 'medium' },
      fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null)),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(fc.oneof({ weight: 4, arbitrary: field }, { weight: 1, arbitrary: word }), tie('tree'), {
        maxKeys: 6,
      }),
    ),
  }));

  it('the compiler never throws, and gives a reason for everything it refuses', () => {
    fc.assert(
      fc.property(fc.oneof(tree, fc.anything(), fc.jsonValue()), (value) => {
        const result = compileDefinition(value);
        expect(result.ok || result.problems.some(({ severity }) => severity === undefined)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('the compiler never throws for a valid definition with one part replaced', () => {
    const replace = (value: unknown, at: number[], by: unknown): unknown => {
      if (value === null || typeof value !== 'object' || at.length === 0) return by;
      const keys = Object.keys(value);
      if (keys.length === 0) return by;
      const key = keys[at[0]! % keys.length]!;
      const changed = replace((value as Record<string, unknown>)[key], at.slice(1), by);
      if (Array.isArray(value)) return value.map((item, index) => (String(index) === key ? changed : item));
      return { ...value, [key]: changed };
    };
    const place = fc.array(fc.nat(20), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.constantFrom(...examples), place, tree, ({ definition }, at, by) => {
        const result = compileDefinition(replace(definition, at, by));
        expect(result.ok || result.problems.length > 0).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('random graphs without cycles', () => {
  const acyclic = fc
    .integer({ min: 1, max: 30 })
    .chain((size) =>
      fc.record({
        size: fc.constant(size),
        arcs: fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { maxLength: 60 }),
        parents: fc.array(fc.nat(1_000), { minLength: size, maxLength: size }),
      }),
    )
    .map(({ size, arcs, parents }) => {
      const edges = arcs.filter(([from, target]) => from < target);
      for (let index = 1; index < size; index++) edges.push([parents[index]! % index, index]);
      return { size, edges };
    });

  it('random acyclic graphs compile as graph and as plan, with every edge in place', () => {
    fc.assert(
      fc.property(acyclic, ({ size, edges }) => {
        const names = Array.from({ length: size }, (_, index) => `n${index}`);
        const targets = (index: number) => edges.filter(([from]) => from === index).map(([, target]) => `n${target}`);
        const sources = (index: number) => edges.filter(([, target]) => target === index).map(([from]) => `n${from}`);
        const asGraph = compiled(
          graph(
            names.map((name, index) => node(name, to(...targets(index)))),
            { startNode: 'n0' },
          ),
        );
        expect(asGraph.edges).toHaveLength(edges.length);
        expect(asGraph.start).toEqual([0]);
        const asPlan = compiled(
          plan(names.map((name, index) => step(name, { dependsOn: [...new Set(sources(index))] }))),
        );
        expect(asPlan.start).toEqual([0]);
        for (const each of [asGraph, asPlan]) {
          each.nodes.forEach(({ incoming, outgoing }, index) => {
            expect(incoming.every((edge) => each.edges[edge]!.to === index)).toBe(true);
            expect(outgoing.every((edge) => each.edges[edge]!.from === index)).toBe(true);
          });
          expect(JSON.parse(JSON.stringify(each))).toEqual(each);
        }
      }),
      { numRuns: 100 },
    );
  });
});
