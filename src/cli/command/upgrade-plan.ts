// `pawl upgrade-plan FILE`: prints a version 1 execution plan as version 2. Only simple plans are converted; for others, every
// place that needs a manual change is listed, with exit code 1.

import type { Command } from 'commander';
import { upgradePlan } from '../../core/definition/plan-upgrade.ts';
import { isJsonObject } from '../../core/json/json.ts';
import { EXIT, UsageError } from '../exit.ts';
import { readDefinitionFile } from '../file/definition-file.ts';

export function register(program: Command): void {
  program
    .command('upgrade-plan')
    .description('convert an execution plan from schema version v1 to v2')
    .argument('<file>', 'the plan, a JSON file; - for standard input')
    .action((file: string) => {
      process.exitCode = upgrade(file);
    });
}

function upgrade(file: string): number {
  const read = readDefinitionFile(file);
  if (read.kind === 'unreadable') throw new UsageError(`${read.name} cannot be read: ${read.reason}`);
  if (read.kind === 'bad') throw new UsageError(`${read.file.name}: ${read.problems[0]!.message}`);
  const { value } = read.source;
  if (!isJsonObject(value)) throw new UsageError(`${read.file.name} is no plan`);
  const upgraded = upgradePlan(value);
  if (upgraded.ok) {
    process.stdout.write(`${JSON.stringify(upgraded.plan, null, 2)}\n`);
    return EXIT.ok;
  }
  for (const { path, message, suggestion } of upgraded.problems) {
    process.stderr.write(`${path}: ${message}${suggestion === undefined ? '' : ` (${suggestion})`}\n`);
  }
  return EXIT.failed;
}
