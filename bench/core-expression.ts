// How long expressions take: one typical condition of a workflow, and the slowest of the hostile ones.

import { evaluate, evaluateCondition } from '../src/core/expression/evaluate.ts';
import { BOMBS, hostileScope } from '../src/core/expression/hostile.testing.ts';
import { parseExpression } from '../src/core/expression/parse.ts';
import { compileTemplate } from '../src/core/template/compile.ts';
import { renderTemplate } from '../src/core/template/render.ts';

const CONDITION = "context.data['get-item'].items[0].Status === 'Approved'";
const SCOPE = {
  trigger: { channelId: 'C456' },
  context: { data: { 'get-item': { items: [{ Status: 'Approved', Name: 'Apollo' }] } } },
};
const OPTIONS = { roots: ['trigger', 'context'], dialect: 'javascript' } as const;
const PARAMETERS = {
  channelId: '{{ trigger.channelId }}',
  message: "Project '{{ context.data['get-item'].items[0].Name }}' is not approved.",
};

export function benchExpression(): { name: string; value: number; unit: string }[] {
  const condition = parsed(CONDITION);
  const template = compileTemplate(PARAMETERS, OPTIONS);
  if (!template.ok) throw new Error('the benchmark template does not compile');
  const slowest = slowestBomb();
  return [
    { name: 'expression: one condition', value: microseconds(() => evaluateCondition(condition, SCOPE)), unit: 'µs' },
    {
      name: 'expression: two templates',
      value: microseconds(() => renderTemplate(template.template, SCOPE)),
      unit: 'µs',
    },
    { name: 'expression: parse one condition', value: microseconds(() => parsed(CONDITION), 5_000), unit: 'µs' },
    { name: `expression: slowest bomb (${slowest.source.slice(0, 40)})`, value: slowest.milliseconds, unit: 'ms' },
  ];
}

function parsed(source: string) {
  const result = parseExpression(source, OPTIONS);
  if (!result.ok) throw new Error(`the benchmark expression does not parse: ${source}`);
  return result.expr;
}

function microseconds(run: () => unknown, times = 300_000): number {
  for (let warm = 0; warm < times / 10; warm++) run();
  const start = performance.now();
  for (let time = 0; time < times; time++) run();
  return ((performance.now() - start) * 1000) / times;
}

function slowestBomb(): { source: string; milliseconds: number } {
  const scope = hostileScope();
  const times = BOMBS.map((source) => {
    const start = performance.now();
    detonate(source, scope);
    return { source, milliseconds: performance.now() - start };
  });
  return times.reduce((slowest, one) => (one.milliseconds > slowest.milliseconds ? one : slowest));
}

function detonate(source: string, scope: Record<string, unknown>): void {
  const result = parseExpression(source, OPTIONS);
  if (!result.ok) return;
  try {
    evaluate(result.expr, scope);
  } catch {
    // An error is expected: only the time counts here.
  }
}
