// `pawl run FILE`: one workflow file, of any format, to its end. The exit code is the outcome. The engine is loaded only when
// the command runs: other commands start without it.

import type { Command } from 'commander';
import type { RunFlags } from './run-file.ts';

export function registerRun(program: Command): void {
  program
    .command('run')
    .description('run a workflow file (graph, pipeline or execution plan) to its end and show its nodes live')
    .argument('<file>', 'the definition, a JSON file')
    .option('-t, --trigger <json>', 'the trigger payload (for a pipeline: the body that the trigger receives)')
    .option('--spec <json>', 'the structured payload of a graph workflow (`spec`)')
    .option('--also <files...>', 'publish these workflow files too: subworkflows that the file starts')
    .option('--actions <folder>', 'a folder with your own actions')
    .option('--data <folder>', 'folder of the embedded database', '.pawl')
    .option('--json', 'print one object at the end instead of the live view')
    .action(async (file: string, flags: RunFlags) => {
      const { runFile } = await import('./run-file.ts');
      process.exitCode = await runFile(file, flags);
    });
}
