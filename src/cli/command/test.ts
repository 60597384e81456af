// `pawl test FILE…`: runs the tests beside workflows, with pinned outputs and no database. Exit code 0 if all pass, 1 if one
// fails, 2 if a file cannot be read.

import type { Command } from 'commander';
import { withoutConfiguration } from '../configuration.ts';

export function register(program: Command): void {
  withoutConfiguration(program.command('test'))
    .description('run tests of workflows: pinned outputs instead of calls, no database, no waiting')
    .argument('[file...]', 'test files (*.test.json, *.test.yaml), or folders with them (this folder)')
    .option('--actions <folder>', 'a folder with your own actions')
    .option('--json', 'print { ok, files } instead of text')
    .addHelpText('after', EXAMPLE)
    .action(async (files: string[], flags: { readonly actions?: string; readonly json?: boolean }) => {
      const { runTests } = await import('../test-files.ts');
      process.exitCode = await runTests(files, flags);
    });
}

const EXAMPLE = `
A test file \`order.test.yaml\` beside \`order.json\`:
  tests:
    - name: a refused card is reported
      trigger: { id: 7 }
      nodes:
        charge: { error: { code: CARD_REFUSED }, retryable: false }
        report: { outputs: {} }
      expect:
        status: Succeeded
        nodes: { charge: Failed, ship: Skipped, report: Succeeded }`;
