// The options of a script that is run by hand. Invalid options end the script with its usage, not with a stack trace.

import { type ParseArgsConfig, parseArgs } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;
type Values<Wanted extends Options> = ReturnType<typeof parseArgs<{ options: Wanted }>>['values'];

export function readOptions<Wanted extends Options>(usage: string, options: Wanted): Values<Wanted> {
  if (process.argv.includes('--help') || process.argv.includes('-h')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return endWithUsage(usage, (error as Error).message);
  }
}

export function endWithUsage(usage: string, problem: string): never {
  console.error(`${problem}\n\n${usage}`);
  process.exit(2);
}
