// The options of a file: pawl.config.ts, .js, .yaml or .json in the working folder, or a named file. The environment and flags
// override its sections and options.

import { existsSync, readFileSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError } from './config-error.ts';

export interface ConfigFile {
  /** The name as a person would write it. */
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
}

const NAMES = ['ts', 'mts', 'js', 'mjs', 'yaml', 'yml', 'json'].map((ending) => `pawl.config.${ending}`);

/** null: there is no file. A named file that is missing is an error, and so are two files. */
export async function readConfigFile(folder: string, named?: string): Promise<ConfigFile | null> {
  const path = named === undefined ? findIn(folder) : resolve(folder, named);
  if (path === null) return null;
  if (!existsSync(path)) throw new ConfigError(`There is no file ${path}, which was named as the configuration.`);
  const name = named ?? basename(path);
  const options = await optionsOf(path, name);
  if (!isSections(options)) {
    throw new ConfigError(`${name} must hold an object of sections: { server: { port: 7295 } }.`);
  }
  return { name, options };
}

function findIn(folder: string): string | null {
  const found = NAMES.filter((name) => existsSync(resolve(folder, name)));
  if (found.length > 1)
    throw new ConfigError(`There is more than one configuration: ${found.join(' and ')}. Keep one.`);
  return found[0] === undefined ? null : resolve(folder, found[0]);
}

async function optionsOf(path: string, name: string): Promise<unknown> {
  switch (extname(path)) {
    case '.yaml':
    case '.yml':
    case '.json':
      return fromText(readFileSync(path, 'utf8'), name);
    default:
      return fromModule(path, name);
  }
}

/** JSON is YAML, so one parser reads both. */
async function fromText(text: string, name: string): Promise<unknown> {
  // Loaded only for such a file, because commands must start quickly.
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { prettyErrors: true });
  const [error] = document.errors;
  if (error !== undefined) throw new ConfigError(`${name} cannot be read: ${error.message}`);
  return document.toJS() ?? {};
}

async function fromModule(path: string, name: string): Promise<unknown> {
  let loaded: { readonly default?: unknown };
  try {
    loaded = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
  } catch (error) {
    throw new ConfigError(`${name} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (loaded.default === undefined) throw new ConfigError(`${name} must have a default export: the options.`);
  return loaded.default;
}

function isSections(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
