// Benchmarks that need no database: expressions, compiling and deciding, each with its target.

import { benchDecider } from './core-decider.ts';
import { benchDefinition } from './core-definition.ts';
import { benchExpression } from './core-expression.ts';
import type { Measurement } from './measurement.ts';
import type { Report } from './report.ts';

interface CoreScenario {
  readonly name: string;
  readonly about: string;
  readonly core: true;
  run(report: Report): void;
}

export const coreScenarios: readonly CoreScenario[] = [
  {
    name: 'core-expression',
    about: 'evaluating conditions and templates',
    core: true,
    run(report) {
      const measured = tell(report, benchExpression());
      report.ratio('condition/us', valueNamed(measured, 'expression: one condition'), { atMost: 2 });
    },
  },
  {
    name: 'core-definition',
    about: 'validating and compiling definitions of 1,000 nodes',
    core: true,
    run(report) {
      for (const { name, value } of tell(report, benchDefinition())) {
        // Pipelines are measured too, but have no target.
        if (name.startsWith('compile a graph')) report.ratio(`${name}/ms`, value, { atMost: 25 });
      }
    },
  },
  {
    name: 'core-decider',
    about: 'deciding a fan-out of 1,000 nodes; cost per fact of short and long journals',
    core: true,
    run(report) {
      const measured = tell(report, benchDecider());
      const [fan, ...perFact] = measured;
      report.ratio('decide 1,000-node fan-out/ms', fan!.value, { atMost: 15 });
      report.ratio('fact of 10,000/fact of 10', perFact.at(-1)!.value / perFact[0]!.value, { atMost: 1.2 });
    },
  },
];

function tell(report: Report, measured: readonly Measurement[]): readonly Measurement[] {
  for (const { name, value, unit } of measured) report.row(name, 'pawl', unit, value);
  return measured;
}

function valueNamed(measured: readonly Measurement[], wanted: string): number {
  const found = measured.find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`nothing measured "${wanted}"`);
  return found.value;
}
