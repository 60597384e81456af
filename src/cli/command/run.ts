// `pawl run FILE`: runs one workflow file of any format to its end. The exit code is the outcome. The engine is loaded only when
// this command runs.

import type { Command } from 'commander';
import { driverOption, FAIL_ON_TASK_FAILURE } from '../argument.ts';
import type { RunFlags } from '../run-file.ts';

export function register(program: Command): void {
  program
    .command('run')
    .description('run a workflow file (graph, pipeline or execution plan) to its end and show its nodes live')
    .argument('<file>', 'the definition, a JSON file; - for standard input')
    .option(
      '-t, --trigger <json>',
      'trigger payload (for a pipeline: the body); @file reads a file, - reads standard input',
    )
    .option('--spec <json>', 'the structured payload of a graph workflow (`spec`)')
    .option('--also <files...>', 'also publish these files, e.g. the subworkflows that the file starts')
    .option('--actions <folder>', 'a folder with your own actions')
    .option('--data <folder>', 'folder of the embedded database (.pawl)')
    .addOption(driverOption())
    .option('--fail-on-task-failure', FAIL_ON_TASK_FAILURE)
    .option('--json', 'print one object at the end instead of the live view')
    .addHelpText('after', NOTES)
    .action(async (file: string, flags: RunFlags) => {
      const { runFile } = await import('../run-file.ts');
      process.exitCode = await runFile(file, flags);
    });
}

const NOTES = `
It runs on a database of its own in --data, or on the server when a \`pawl dev\` is using that folder.

Examples:
  pawl run flow.json --trigger '{"id":7}'
  pawl run parent.json --also child.json --json`;
