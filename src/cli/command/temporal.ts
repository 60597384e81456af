// `pawl temporal setup`: creates the namespaces and search attributes that runs need, and reports them. Safe to repeat.

import type { Command } from 'commander';
import { explained } from '../start-problem.ts';
import { printJson } from '../terminal/terminal.ts';

interface SetupFlags {
  readonly tenant: string[];
  readonly project: string[];
  readonly environment: string[];
  readonly json?: boolean;
}

export function register(program: Command): void {
  const temporal = program.command('temporal').description('prepare a Temporal cluster for executions');
  temporal
    .command('setup')
    .description('create the missing namespaces and search attributes')
    .option('--tenant <names...>', 'tenants whose namespaces are needed', ['default'])
    .option('--project <names...>', 'projects, where the template names {project}', ['default'])
    .option('--environment <names...>', 'environments whose namespaces are needed', ['default'])
    .option('--json', 'print what was done as one object')
    .addHelpText('after', NOTES)
    .action(async (flags: SetupFlags) => {
      await setup(flags);
    });
}

const NOTES = `
temporal.address, temporal.namespaceTemplate, temporal.tls and temporal.apiKey say where and how: see docs/temporal.md.

Example:
  PAWL_TEMPORAL_ADDRESS=temporal.internal:7233 pawl temporal setup --environment prod --tenant acme globex`;

async function setup({ tenant, project, environment, json }: SetupFlags): Promise<void> {
  const { setUpTemporal } = await import('../../main.ts');
  const places = environment.flatMap((environmentId) =>
    tenant.flatMap((tenantId) => project.map((projectId) => ({ tenantId, projectId, environmentId }))),
  );
  const { address, namespaces } = await explained(() => setUpTemporal({}, places));
  if (json === true) return printJson({ address, namespaces });
  for (const { namespace, created, retentionDays, addedSearchAttributes } of namespaces) {
    const made = created ? `made, keeps histories for ${retentionDays} days` : 'was there already';
    const added = addedSearchAttributes.length === 0 ? 'complete' : `added ${addedSearchAttributes.join(', ')}`;
    process.stdout.write(`${namespace} at ${address}: ${made}; search attributes: ${added}\n`);
  }
}
