// `pawl audit list` shows who did what. `pawl audit verify` checks whether a record was changed or removed; it needs access to
// the database.

import type { Command } from 'commander';
import { AUDIT_HEAD } from '../../protocol/audit.ts';
import { isTenantId } from '../../protocol/identifier.ts';
import { readLink, verifyChain, writeLink } from '../../store/audit-chain.ts';
import { EVERY_TENANT } from '../../store/audit-port.ts';
import { EXIT, UsageError } from '../exit.ts';
import { printable } from '../file/line-map.ts';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { explained } from '../start-problem.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

interface ListFlags extends ClientFlags {
  readonly action?: string;
}

const NEWEST = 100;

interface VerifyFlags {
  readonly tenant?: string;
  readonly head?: string;
  readonly data?: string;
  readonly json?: boolean;
}

export function register(program: Command): void {
  const audit = program.command('audit').description('the audit log');
  clientCommand(audit, 'list', 'list the audit log, newest first')
    .option('--action <name>', 'only this action, or actions with this prefix, e.g. workflow.publish')
    .action(list);
  audit
    .command('verify')
    .description('find records that were changed or removed; the exit code is 1 when there are any')
    .option('--tenant <id>', 'only this tenant')
    .option(
      '--head <seq:hash>',
      'the head that an earlier run printed: shows records removed from the end (with --tenant)',
    )
    .option('--data <folder>', 'folder of the embedded database, when there is no DATABASE_URL')
    .option('--json', 'print JSON')
    .action(verify);
}

async function list(flags: ListFlags): Promise<void> {
  const action = flags.action === undefined ? {} : { action: flags.action };
  const page = await connect(flags).admin.audit({ ...action, limit: NEWEST });
  if (flags.json === true) return printJson(page);
  if (page.data.length === 0) return void process.stdout.write('no records\n');
  const rows = page.data.map(({ at, actor, action: what, target }) => [at, printable(actor), what, printable(target)]);
  process.stdout.write(table(['AT', 'WHO', 'WHAT', 'OF'], rows));
}

async function verify({ tenant, head, data, json }: VerifyFlags): Promise<void> {
  if (tenant !== undefined && tenant !== EVERY_TENANT && !isTenantId(tenant))
    throw new UsageError(`"${tenant}" cannot be the id of a tenant`);
  if (head !== undefined && tenant === undefined)
    throw new UsageError('--head needs --tenant: each tenant has a log of its own');
  if (head !== undefined && !AUDIT_HEAD.test(head))
    throw new UsageError('--head must be a number, ":" and 64 hex digits');
  const { createPawl } = await import('../../main.ts');
  const pawl = await explained(() => createPawl({ runner: false, isWatched: false, database: { dataDir: data } }));
  try {
    const tenants = tenant === undefined ? await pawl.store.auditTenants() : [tenant];
    const found = [];
    for (const tenantId of tenants) {
      const { records, head: last, problem } = await verifyChain(pawl.store, tenantId, readLink(head));
      found.push({ tenantId, records, head: last === null ? '' : writeLink(last), problem });
    }
    const isWhole = found.every(({ problem }) => problem === null);
    process.exitCode = isWhole ? EXIT.ok : EXIT.failed;
    if (json === true) return printJson({ ok: isWhole, data: found });
    const rows = found.map(({ tenantId, records, head: last, problem }) => [
      tenantId,
      String(records),
      problem ?? 'whole',
      last,
    ]);
    process.stdout.write(table(['TENANT', 'RECORDS', 'STATE', 'HEAD'], rows));
  } finally {
    await pawl.close();
  }
}
