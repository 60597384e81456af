// Marks the commands that read the configuration file and the PAWL_ variables. All do unless they say otherwise.

import type { Command } from 'commander';
import { UsageError } from './exit.ts';

const without = new WeakSet<Command>();

/** For commands that only talk to a server, or only read the given files. */
export function withoutConfiguration(command: Command): Command {
  without.add(command);
  return command;
}

export async function readConfiguration(command: Command): Promise<void> {
  if (without.has(command)) return;
  const { mistypedVariables, useConfigFile } = await import('../config/config.ts');
  const { ConfigError } = await import('../config/config-error.ts');
  for (const { variable, didYouMean } of mistypedVariables()) {
    const hint = didYouMean === undefined ? '' : `; did you mean ${didYouMean}?`;
    process.stderr.write(`pawl: ${variable} is ignored: there is no such option${hint}\n`);
  }
  try {
    await useConfigFile(command.optsWithGlobals<{ config?: string }>().config);
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error;
  }
}
