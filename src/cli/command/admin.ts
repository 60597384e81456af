// `pawl admin erase`: removes a person's data, or all data of a tenant. It counts first; `--yes` removes. `pawl admin tenants` and
// `pawl admin quota` show who works here and what each may do, and change that.

import type { Command } from 'commander';
import { MAX_PAGE } from '../../protocol/page.ts';
import { NO_LIMITS, QUOTA_PRESETS, type QuotaRequest, quotaRequest } from '../../protocol/quota.ts';
import { UsageError } from '../exit.ts';
import { allItems, type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

interface EraseFlags extends ClientFlags {
  readonly tenant: string;
  readonly person?: string;
  readonly reason: string;
  readonly yes?: boolean;
}

interface QuotaFlags extends ClientFlags {
  readonly preset?: string;
  readonly limit?: string[];
}

const LIMIT_NAMES = Object.keys(NO_LIMITS);

export function register(program: Command): void {
  const admin = program.command('admin').description('for operators of the whole installation');
  clientCommand(admin, 'erase', "erase a person's data, or all data of a tenant; counts unless --yes is given")
    .requiredOption('--tenant <id>', 'the tenant')
    .option(
      '--person <text>',
      'user id, e-mail or another text that names the person; without it, everything of the tenant',
    )
    .requiredOption('--reason <text>', 'why; it stands in the audit log')
    .option('--yes', 'erase the data; without this flag nothing is removed')
    .addHelpText('after', EXAMPLES)
    .action(erase);
  clientCommand(admin, 'tenants', 'list tenants, their quotas, and how much each has').action(tenants);
  clientCommand(admin, 'quota', 'show the quota of a tenant and how much of it is used, or change it')
    .argument('<tenant>', 'the tenant')
    .option('--preset <name>', `${Object.keys(QUOTA_PRESETS).join(' or ')}; none lifts the quota`)
    .option('--limit <name=value...>', `${LIMIT_NAMES.join(', ')}; none lifts a limit`)
    .addHelpText('after', QUOTA_EXAMPLES)
    .action(quota);
}

const QUOTA_EXAMPLES = `
Examples:
  pawl admin quota acme
  pawl admin quota acme --preset free --limit concurrentRuns=5 cron=true
  pawl admin quota acme --preset none`;

const EXAMPLES = `
Examples:
  pawl admin erase --tenant acme --person ada@example.com --reason 'request of 12 May'
  pawl admin erase --tenant acme --person ada@example.com --reason 'request of 12 May' --yes`;

async function erase({ tenant, person, reason, yes, ...flags }: EraseFlags): Promise<void> {
  const request = { reason, dryRun: yes !== true, ...(person === undefined ? {} : { person }) };
  const answer = await connect(flags).admin.erase(tenant, request);
  if (flags.json === true) return printJson(answer);
  const rows = Object.entries(answer.erased).map(([kind, count]) => [kind, String(count)]);
  process.stdout.write(table(['KIND', answer.dryRun ? 'WOULD BE ERASED' : 'ERASED'], rows));
  if (answer.dryRun) process.stderr.write('Nothing was erased. Run the command again with --yes to erase.\n');
}

async function tenants(flags: ClientFlags): Promise<void> {
  const { admin } = connect(flags);
  const found = await allItems((cursor) => admin.tenants({ limit: MAX_PAGE, cursor }));
  if (flags.json === true) return printJson({ data: found });
  if (found.length === 0) return void process.stdout.write('no tenants\n');
  const rows = found.map(({ tenantId, preset, workflows, concurrentRuns }) => [
    tenantId,
    preset ?? 'none',
    String(workflows),
    String(concurrentRuns),
  ]);
  process.stdout.write(table(['TENANT', 'QUOTA', 'WORKFLOWS', 'LIVE'], rows));
}

async function quota(tenant: string, { preset, limit, ...flags }: QuotaFlags): Promise<void> {
  const { admin } = connect(flags);
  const isChange = preset !== undefined || limit !== undefined;
  const answer = isChange ? await admin.setQuota(tenant, quotaOf(preset, limit)) : await admin.quota(tenant);
  if (flags.json === true) return printJson(answer);
  const { limits, usage } = answer;
  const used: Readonly<Record<string, number>> = {
    workflows: usage.workflows,
    concurrentRuns: usage.concurrentRuns,
    executionsPerMonth: usage.executionsThisMonth,
  };
  process.stdout.write(`${tenant}: quota ${answer.preset ?? 'none'}; the month ends ${usage.resetsAt}\n`);
  const rows = LIMIT_NAMES.map((name) => [
    name,
    String(limits[name as keyof typeof limits] ?? 'no limit'),
    String(used[name] ?? ''),
  ]);
  process.stdout.write(table(['LIMIT', 'VALUE', 'USED'], rows));
}

function quotaOf(preset: string | undefined, given: readonly string[] = []): QuotaRequest {
  const limits = given.map((text) => {
    const [name = '', value = ''] = text.split('=');
    return [
      name,
      value === 'none'
        ? null
        : /^\d+$/.test(value)
          ? Number(value)
          : value === 'true'
            ? true
            : value === 'false'
              ? false
              : value,
    ];
  });
  const request = {
    ...(preset === undefined ? {} : { preset: preset === 'none' ? null : preset }),
    ...(limits.length === 0 ? {} : { limits: Object.fromEntries(limits) as object }),
  };
  const parsed = quotaRequest.safeParse(request);
  if (parsed.success) return parsed.data;
  const [problem] = parsed.error.issues;
  throw new UsageError(`${problem?.path.join('.') ?? ''}: ${problem?.message ?? 'not a quota'}`);
}
