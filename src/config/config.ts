// Resolves every option once: from a file, then the environment, then a program or flag. The only reader of the environment.
// Errors come all at once, each with the option, the expected and the given value, and its source.

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import { ConfigError } from './config-error.ts';
import { type ConfigFile, readConfigFile } from './config-file.ts';
import { ALIASES, type UnknownVariable, unknownVariables, variableName } from './environment-name.ts';
import { type Given, unknownOption, wrongOption } from './option-problem.ts';
import { SECTIONS, type SectionName, type Sections } from './option-section.ts';

export type Config = { readonly [Name in SectionName]: z.output<Sections[Name]> } & {
  /** CONNECTOR_*_TOKEN and nothing else. */
  readonly connectorTokens: Readonly<Record<string, string | undefined>>;
  /** SECRET_* and nothing else: the provider `environment`. */
  readonly secretVariables: Readonly<Record<string, string | undefined>>;
};

type Loose<Options> = { readonly [Option in keyof Options]?: Options[Option] | undefined };

/** Options as a program gives them: any part of any section. */
export type ConfigInput = { readonly [Name in SectionName]?: Loose<z.output<Sections[Name]>> | undefined };

let fileOfProcess: ConfigFile | null = null;

/** For programs: everything that is resolved from now on uses the file. Returns its name; null: there is none. */
export async function useConfigFile(
  named?: string,
  folder: string = process.cwd(),
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string | null> {
  fileOfProcess = await readConfigFile(folder, named ?? (environment.PAWL_CONFIG || undefined));
  return fileOfProcess?.name ?? null;
}

export function resolveConfig(
  input: ConfigInput = {},
  environment: NodeJS.ProcessEnv = process.env,
  file: ConfigFile | null = fileOfProcess,
): Config {
  const problems = file === null ? [] : sectionProblems(file);
  const resolved: Record<string, unknown> = {};
  for (const [section, schema] of Object.entries(SECTIONS)) {
    const given = {
      ...fromFile(section, file),
      ...fromEnvironment(section, Object.keys(schema.shape), environment),
      ...fromProgram(section, input),
    };
    const values = Object.fromEntries(Object.entries(given).map(([option, { value }]) => [option, value]));
    const parsed = schema.safeParse(values);
    if (parsed.success) resolved[section] = parsed.data;
    else problems.push(...parsed.error.issues.flatMap((issue) => describe(section, issue, given)));
  }
  if (problems.length > 0) throw new ConfigError(`The configuration is not valid:\n${problems.join('\n')}`);
  const tokens = Object.entries(environment).filter(([name]) => /^CONNECTOR_.+_TOKEN$/.test(name));
  const secrets = Object.entries(environment).filter(([name]) => name.startsWith('SECRET_'));
  const apart = { connectorTokens: Object.fromEntries(tokens), secretVariables: Object.fromEntries(secrets) };
  return { ...resolved, ...apart } as unknown as Config;
}

/** Variables that look like options but are not: probably typing mistakes. */
export function mistypedVariables(environment: NodeJS.ProcessEnv = process.env): UnknownVariable[] {
  return unknownVariables(environment);
}

type GivenOptions = Record<string, Given>;

function sectionProblems({ name, options }: ConfigFile): string[] {
  const known = Object.keys(SECTIONS);
  return Object.entries(options).flatMap(([section, given]) => {
    if (!known.includes(section)) return [unknownOption(section, name, known)];
    if (given == null || (typeof given === 'object' && !Array.isArray(given))) return [];
    return [`- ${section}: expected options, as name and value, got ${JSON.stringify(given)} (from ${name})`];
  });
}

function fromFile(section: string, file: ConfigFile | null): GivenOptions {
  const given = file?.options[section];
  return given === undefined || given === null || file === null ? {} : told(given as object, file.name);
}

function fromProgram(section: string, input: ConfigInput): GivenOptions {
  return told(input[section as SectionName] ?? {}, 'the flags or options of the program');
}

function told(options: object, from: string): GivenOptions {
  const defined = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined.map(([option, value]) => [option, { value, from }]));
}

/** An empty variable counts as unset, because compose files and shells write it so. */
function fromEnvironment(section: string, options: readonly string[], environment: NodeJS.ProcessEnv): GivenOptions {
  const found: GivenOptions = {};
  for (const option of options) {
    const from = variableName(section, option);
    const value = environment[from];
    if (value !== undefined && value !== '') found[option] = { value, from };
  }
  for (const { variable: from, name, value = (text: string) => text } of ALIASES) {
    const text = environment[from];
    const [of, option] = name.split('.') as [string, string];
    if (of === section && text !== undefined && text !== '') found[option] ??= { value: value(text), from };
  }
  return found;
}

function describe(section: string, issue: z.core.$ZodIssue, given: GivenOptions): string[] {
  if (issue.code === 'unrecognized_keys' && issue.path.length === 0) {
    const known = Object.keys(SECTIONS[section as SectionName].shape).map((option) => `${section}.${option}`);
    return issue.keys.map((key) => unknownOption(`${section}.${key}`, given[key]!.from, known));
  }
  const option = String(issue.path[0] ?? '');
  return [wrongOption(`${section}.${option}`, issue, given[option])];
}

export interface OptionReference {
  readonly section: string;
  readonly option: string;
  readonly variable: string;
  /** As JSON; undefined = none. */
  readonly defaultValue: string | undefined;
  readonly description: string;
}

/** Every option as people look it up: docs/configuration.md is generated from this. */
export function optionReference(): OptionReference[] {
  const defaults = resolveConfig({}, {}, null) as unknown as Record<string, Record<string, unknown>>;
  return Object.entries(SECTIONS).flatMap(([section, schema]) =>
    Object.entries(schema.shape).map(([option, field]) => ({
      section,
      option,
      variable: variableName(section, option),
      defaultValue: JSON.stringify(defaults[section]?.[option]),
      description: (field as z.ZodType).description ?? '',
    })),
  );
}

/** A secret that an option names instead of holding it. */
export function referencedSecret(
  { provider, key }: { readonly provider: 'env' | 'file'; readonly key: string },
  environment: NodeJS.ProcessEnv = process.env,
): string {
  if (provider === 'env') {
    const value = environment[key];
    if (value !== undefined && value !== '') return value;
    throw new ConfigError(`a secret is expected in the environment variable ${key}, which is not set`);
  }
  try {
    return readFileSync(key, 'utf8').trim();
  } catch (error) {
    throw new ConfigError(`a secret is expected in the file ${key}, which cannot be read: ${(error as Error).message}`);
  }
}

/** Terminal preferences: the conventions of NO_COLOR and TERM=dumb, and PAWL_DEBUG=1 for the engine's warnings. */
export function terminalPreferences(
  stream: { readonly isTTY?: boolean },
  environment: NodeJS.ProcessEnv = process.env,
): { readonly colour: boolean; readonly redraw: boolean; readonly debug: boolean } {
  // A dumb terminal (an editor's shell, a build log) prints escape sequences instead of obeying them.
  const redraw = stream.isTTY === true && environment.TERM !== 'dumb';
  return { colour: redraw && !environment.NO_COLOR, redraw, debug: Boolean(environment.PAWL_DEBUG) };
}

/** The server that commands talk to, and the token: PAWL_URL and PAWL_TOKEN. */
export function clientPreferences(environment: NodeJS.ProcessEnv = process.env): {
  readonly url: string;
  /** The URL was given explicitly. */
  readonly isNamed: boolean;
  readonly token: string | undefined;
} {
  const { PAWL_URL: named, PAWL_TOKEN: token } = environment;
  return { url: named || 'http://127.0.0.1:7295', isNamed: Boolean(named), token: token || undefined };
}

/** The search path for programs that we start. */
export function searchPath(environment: NodeJS.ProcessEnv = process.env): string {
  return environment.PATH ?? '';
}

/** The folder of `npm run servers`. */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'pawl');
}
