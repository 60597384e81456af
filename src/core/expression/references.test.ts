import { describe, expect, test } from 'vitest';
import { parseExpression } from './parse.ts';
import { pathText, type Reference, references } from './references.ts';

function found(source: string, dialect: 'javascript' | 'pipeline' = 'javascript'): Reference[] {
  const parsed = parseExpression(source, { roots: ['trigger', 'context', 'tasks'], dialect });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return references(parsed.expr);
}

function summary(source: string, dialect: 'javascript' | 'pipeline' = 'javascript'): string[] {
  return found(source, dialect).map(({ path, guarded }) => `${pathText(path)}${guarded ? ' guarded' : ''}`);
}

describe('references', () => {
  test.each<[string, string[]]>([
    ["context.data['get-item'].items[0].Status === 'Approved'", ["context.data['get-item'].items[0].Status"]],
    ['trigger', ['trigger']],
    ['1 + 2', []],
    ['context.data[trigger.node].items[0]', ['context.data', 'trigger.node']],
    ["context.data['a'].x ?? context.data.b.y", ['context.data.a.x guarded', 'context.data.b.y']],
    ['(trigger.a ?? trigger.b) ?? trigger.c', ['trigger.a guarded', 'trigger.b guarded', 'trigger.c']],
    ['context.data?.a.b', ['context.data.a.b guarded']],
    ['context.data.a?.[trigger.i]', ['context.data.a guarded', 'trigger.i']],
    [
      'trigger.items.filter(x => x.id === trigger.id && x[trigger.key].z).length',
      ['trigger.items', 'trigger.id', 'trigger.key'],
    ],
    ['trigger.items?.filter(x => x)', ['trigger.items guarded']],
    ['trigger.items.at(0)?.name', ['trigger.items guarded']],
    [
      '[trigger.a, ...trigger.b, { [trigger.c]: trigger.d, ...trigger.e }]',
      ['trigger.a', 'trigger.b', 'trigger.c', 'trigger.d', 'trigger.e'],
    ],
    [
      `\`\${trigger.a}\` + -trigger.b + (trigger.c ? Math.max(trigger.d) : trigger.e || trigger.f)`,
      ['trigger.a', 'trigger.b', 'trigger.c', 'trigger.d', 'trigger.e', 'trigger.f'],
    ],
  ])('the references of an expression are found: %s', (source, expected) => {
    expect(summary(source)).toEqual(expected);
  });

  test('references in the pipeline dialect have offsets in the source as written', () => {
    expect(summary('tasks.payment-result.body.id == trigger.a', 'pipeline')).toEqual([
      "tasks['payment-result'].body.id",
      'trigger.a',
    ]);
    const source = '  tasks.payment-result.body.id - tasks.x.status';
    expect(found(source, 'pipeline').map(({ start, end }) => source.slice(start, end))).toEqual([
      'tasks.payment-result.body.id',
      'tasks.x.status',
    ]);
  });
});
