// The command line of `npm run bench`.

import { parseArgs } from 'node:util';

export interface Wanted {
  /** Names of scenarios, in the order in which they run. */
  readonly scenarios: readonly string[];
  readonly quick: boolean;
  /** Runs only these rows of scenarios that have rows. Empty: all. */
  readonly rows: readonly string[];
  readonly scale: number;
}

export interface Choice {
  readonly name: string;
  readonly about: string;
  /** Needs no database: part of `core`. */
  readonly core?: true;
}

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What `--quick` runs: our engine and the floor. */
const QUICK = ['one-step', 'ten-step'];

export function readCommandLine(args: readonly string[], choices: readonly Choice[]): Wanted {
  const { values, positionals } = parse(args, choices);
  const scale = Number(values.scale);
  if (!(scale > 0)) throw new UsageError(`--scale must be a number above 0, not "${values.scale}"`);
  const quick = values.quick === true;
  const rows = values.row ?? [];
  const all = choices.map(({ name }) => name);
  const only = [...(values.only ?? []), ...positionals.filter((name) => name !== 'core')];
  const unknown = only.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new UsageError(`there is no scenario "${unknown[0]}"\n\n${usage(choices)}`);
  const wanted = positionals.includes('core') ? choices.filter(({ core }) => core).map(({ name }) => name) : [];
  wanted.push(...only);
  if (wanted.length > 0) return { scenarios: all.filter((name) => wanted.includes(name)), quick, scale, rows };
  return { scenarios: quick ? QUICK : all, quick, scale, rows };
}

function parse(args: readonly string[], choices: readonly Choice[]) {
  const options = {
    quick: { type: 'boolean' },
    only: { type: 'string', multiple: true },
    row: { type: 'string', multiple: true },
    scale: { type: 'string', default: '1' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true });
    if (parsed.values.help !== true) return parsed;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${usage(choices)}`);
  }
  throw new UsageError(usage(choices));
}

function usage(choices: readonly Choice[]): string {
  const width = Math.max(...choices.map(({ name }) => name.length));
  return [
    'npm run bench                        everything, with the peers (about ten minutes)',
    'npm run bench -- --quick             one step and ten steps, ours and the floor (under a minute)',
    'npm run bench core                   only what needs no database',
    'npm run bench -- --only NAME         one scenario; may be repeated',
    'npm run bench -- --only cliffs --row NAME   one row of the cliffs; may be repeated',
    'npm run bench -- --scale 0.01        other sizes, to try the benchmarks themselves',
    '',
    'DATABASE_URL: use this PostgreSQL server instead of an embedded one. Its databases pawl_bench… are replaced.',
    '',
    ...choices.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`),
  ].join('\n');
}
