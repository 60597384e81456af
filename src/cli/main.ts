// The command line. One file per command, each with a `register…(program)`; this one only puts them together and turns
// whatever goes wrong into a message and an exit code, never a stack trace.

import { Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { registerDev } from './dev.ts';
import { registerDoctor } from './doctor.ts';
import { EXIT, UsageError } from './exit.ts';
import { registerKeys } from './keys.ts';
import { registerList } from './list.ts';
import { registerLogs } from './logs.ts';
import { registerMigrate } from './migrate.ts';
import { registerPublish } from './publish.ts';
import { registerRun } from './run.ts';
import { registerServe } from './serve.ts';
import { registerSignals } from './signal.ts';
import { registerValidate } from './validate.ts';

const COMMANDS: readonly ((program: Command) => void)[] = [
  registerDev,
  registerServe,
  registerValidate,
  registerRun,
  registerPublish,
  registerList,
  registerLogs,
  registerSignals,
  registerKeys,
  registerMigrate,
  registerDoctor,
];

function createProgram(): Command {
  const program = new Command('pawl')
    .description(packageJson.description)
    .version(packageJson.version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .showHelpAfterError('Run `pawl --help` to see what there is.')
    .exitOverride();
  for (const register of COMMANDS) register(program);
  return program;
}

/** A reader that has seen enough (`pawl … | head`) is not an error. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? process.exitCode : EXIT.failed);
});

try {
  await createProgram().parseAsync();
} catch (error) {
  // Commander has printed its own messages, and help and version are errors to it as well.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  else {
    process.stderr.write(`pawl: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof UsageError ? EXIT.usage : EXIT.failed;
  }
}
