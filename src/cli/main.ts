// The command line. Each command has its own file with a `register(program)`. This file loads the requested one, and turns every
// failure into a message and an exit code, never a stack trace.

import { Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { ConfigError } from '../config/config-error.ts';
import { PawlApiError } from '../sdk/api-error.ts';
import { readConfiguration } from './configuration.ts';
import { EXIT, UsageError } from './exit.ts';
import { closeFolder } from './folder-reader.ts';
import { refuseColours } from './terminal/colour.ts';

interface CommandFile {
  register(program: Command): void;
}

/** In the order of the help. Loaded on demand: `pawl --version` needs none of them, and `pawl list` needs no engine. */
const FILES: readonly { readonly names: readonly string[]; readonly load: () => Promise<CommandFile> }[] = [
  { names: ['dev'], load: () => import('./command/dev.ts') },
  { names: ['validate'], load: () => import('./command/validate.ts') },
  { names: ['test'], load: () => import('./command/test.ts') },
  { names: ['upgrade-plan'], load: () => import('./command/upgrade-plan.ts') },
  { names: ['run'], load: () => import('./command/run.ts') },
  { names: ['publish'], load: () => import('./command/publish.ts') },
  { names: ['start'], load: () => import('./command/start.ts') },
  {
    names: ['versions', 'diff', 'archive', 'reactivate', 'enable', 'disable', 'delete'],
    load: () => import('./command/versions.ts'),
  },
  { names: ['show', 'drafts'], load: () => import('./command/drafts.ts') },
  { names: ['actions', 'dead-letters', 'consumers', 'reconcile'], load: () => import('./command/operations.ts') },
  { names: ['catalog'], load: () => import('./command/catalog.ts') },
  { names: ['documents', 'templates'], load: () => import('./command/templates.ts') },
  { names: ['workflows'], load: () => import('./command/workflows.ts') },
  { names: ['list', 'describe'], load: () => import('./command/list.ts') },
  { names: ['artifacts'], load: () => import('./command/artifacts.ts') },
  { names: ['logs'], load: () => import('./command/logs.ts') },
  { names: ['retry', 'cancel', 'signal'], load: () => import('./command/signal.ts') },
  { names: ['triggers'], load: () => import('./command/triggers.ts') },
  { names: ['connections'], load: () => import('./command/connections.ts') },
  { names: ['secrets'], load: () => import('./command/secrets.ts') },
  { names: ['bulk'], load: () => import('./command/bulk.ts') },
  {
    names: ['stats', 'failures', 'waits', 'continue', 'find', 'runners', 'drain', 'resources'],
    load: () => import('./command/insight.ts'),
  },
  { names: ['task-queues'], load: () => import('./command/task-queues.ts') },
  { names: ['lifecycle'], load: () => import('./command/lifecycle.ts') },
  { names: ['serve', 'runner'], load: () => import('./command/serve.ts') },
  { names: ['temporal'], load: () => import('./command/temporal.ts') },
  { names: ['keys'], load: () => import('./command/keys.ts') },
  { names: ['mcp'], load: () => import('./command/mcp.ts') },
  { names: ['plugins'], load: () => import('./command/plugins.ts') },
  { names: ['admin'], load: () => import('./command/admin.ts') },
  { names: ['audit'], load: () => import('./command/audit.ts') },
  { names: ['migrate'], load: () => import('./command/migrate.ts') },
  { names: ['doctor'], load: () => import('./command/doctor.ts') },
];

async function createProgram(args: readonly string[]): Promise<Command> {
  const program = new Command('pawl')
    .description(packageJson.description)
    .version(packageJson.version, '--version', 'print the version (also -v)')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .option('--config <file>', 'options from this file (otherwise pawl.config.* of this folder)')
    .hook('preAction', (_program, command) => readConfiguration(command))
    .option('--no-color', 'no colours (also: NO_COLOR=1; never in a pipe)')
    .on('option:no-color', refuseColours)
    .configureOutput({ outputError: (text, write) => write(plainly(text)) })
    .showHelpAfterError('Run `pawl --help` to see what there is.')
    .addHelpText('after', EXAMPLES)
    .exitOverride();
  const asked = args.find((arg) => !arg.startsWith('-'));
  const isKnown = ({ names }: { names: readonly string[] }) => names.includes(asked ?? '');
  const wanted = isVersion(args) ? [] : FILES.some(isKnown) ? FILES.filter(isKnown) : FILES;
  for (const { register } of await Promise.all(wanted.map(({ load }) => load()))) register(program);
  for (const command of program.commands) adviseOn(command, 'pawl');
  return program;
}

/** Rewords Commander's messages. */
const plainly = (text: string): string =>
  text
    .replace(/^error: /, 'pawl: ')
    .replace(/command-argument value '(.*)' is invalid for argument '(.*?)'\. /s, "'$1' is not a valid $2. ");

/** After a mistake, points to the help of the command. */
function adviseOn(command: Command, parent: string): void {
  const name = `${parent} ${command.name()}`;
  command.showHelpAfterError(`Run \`${name} --help\` to see what it takes.`);
  for (const inner of command.commands) adviseOn(inner, name);
}

const isVersion = (args: readonly string[]): boolean => args[0] === '--version' || args[0] === '-v';

const EXAMPLES = `
Examples:
  pawl dev                                         start everything, with a database of its own
  pawl run flow.json --trigger '{"id":7}'          run a file to its end; the exit code is the outcome
  pawl test                                        run the tests beside the workflows of this folder
  pawl publish flow.json                           make it live on the server
  pawl start flow --trigger '{"id":7}' --wait      start it there, and follow it
  pawl list --status Failed                        what failed
  pawl help start                                  everything about one command

Exit codes: 0 fine, 1 failed or has problems, 2 wrong usage, 3 cancelled, 4 timed out.`;

/** A reader that stops early (`pawl … | head`) is not an error. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? process.exitCode : EXIT.failed);
});

try {
  const args = process.argv.slice(2);
  const program = await createProgram(args);
  // `-v` alone is the version; after a command it is that command's own.
  await program.parseAsync(withoutHelpOfNothing(program, args[0] === '-v' ? ['--version'] : args), { from: 'user' });
} catch (error) {
  // Commander has printed its own messages. It also throws for help and version.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  else {
    process.stderr.write(`pawl: ${await explain(error)}\n`);
    process.exitCode = error instanceof UsageError || error instanceof ConfigError ? EXIT.usage : EXIT.failed;
  }
}
await closeFolder();

/** `help` for an unknown command fails like that command, with a suggestion. */
function withoutHelpOfNothing({ commands }: Command, args: readonly string[]): readonly string[] {
  const [help, name = 'help'] = args;
  return help !== 'help' || name === 'help' || commands.some((command) => command.name() === name) ? args : [name];
}

async function explain(error: unknown): Promise<string> {
  if (error instanceof PawlApiError) return (await import('./server-client.ts')).explainRefusal(error);
  return error instanceof Error ? error.message : String(error);
}
