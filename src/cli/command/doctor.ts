// `pawl doctor`: finds what keeps Pawl from working here, and gives the next step. It changes nothing unless it is told to run a
// plan. Exit code 0 when all is well, otherwise 1.

import type { Command } from 'commander';
import type { ConfigInput } from '../../config/config.ts';
import { wholeNumber } from '../argument.ts';
import { databaseFindings } from '../database-check.ts';
import { EXIT } from '../exit.ts';
import { configFinding, diskFinding, folderFinding, nodeFinding, portFinding } from '../machine-check.ts';
import { smokeFinding } from '../smoke-check.ts';
import type { Finding } from '../terminal/finding.ts';
import { paintOn, printJson } from '../terminal/terminal.ts';

interface DoctorFlags {
  readonly data?: string;
  readonly port?: number;
  readonly json?: boolean;
  readonly smoke?: boolean;
}

export function register(program: Command): void {
  program
    .command('doctor')
    .description('check node, configuration, folder, disk, port, database, notifications, clock and migrations')
    .option('-p, --port <number>', 'the port that a server would listen on', wholeNumber(0, 65_535))
    .option('--data <folder>', 'folder of the embedded database')
    .option('--smoke', 'also run a three-step plan; its execution stays in the database')
    .option('--json', 'print { ok, findings } instead of text')
    .action(async (flags: DoctorFlags) => {
      const input = { server: { port: flags.port }, database: { dataDir: flags.data } };
      const findings = await examine(input, flags.smoke === true);
      const ok = findings.every((finding) => finding.ok);
      if (flags.json === true) printJson({ ok, findings });
      else process.stdout.write(findings.map(asText).join(''));
      process.exitCode = ok ? EXIT.ok : EXIT.failed;
    });
}

async function examine(input: ConfigInput, withSmoke: boolean): Promise<Finding[]> {
  const { config, finding } = configFinding(input);
  if (config === null) return [nodeFinding(), finding];
  const { dataDir, url } = config.database;
  const findings = [
    nodeFinding(),
    finding,
    ...(url === undefined ? [folderFinding(dataDir)] : []),
    diskFinding(dataDir),
    await portFinding(config.server),
    ...(await databaseFindings(config)),
  ];
  return withSmoke && findings.every(({ ok }) => ok) ? [...findings, await smokeFinding(config)] : findings;
}

const WIDTH = 13;

function asText({ check, ok, detail, next }: Finding): string {
  const paint = paintOn(process.stdout);
  const line = `${ok ? paint('green', '✓') : paint('red', '✗')} ${check.padEnd(WIDTH)} ${detail}\n`;
  return next === undefined ? line : `${line}${' '.repeat(WIDTH + 3)}→ ${next}\n`;
}
