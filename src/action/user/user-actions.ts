// Loads user actions from a folder (`--actions ./dir`): every exported definition of every .ts, .mts, .js and .mjs file. Files
// that begin with `_` or `.`, tests and declarations are skipped. All problems of all files are reported at once, each with its
// file: a runner that silently lacks an action fails much later and far away.

import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ActionDefinition, isActionDefinition } from '../action.ts';

export class UserActionError extends Error {
  override readonly name = 'UserActionError';
}

export async function loadUserActions(folder: string): Promise<ActionDefinition[]> {
  const files = await listFiles(folder);
  const loaded = await Promise.all(files.map(async (file) => ({ file, ...(await loadFile(join(folder, file))) })));
  const problems = [
    ...loaded.flatMap(({ file, problems }) => problems.map((problem) => `${file}: ${problem}`)),
    ...duplicateProblems(loaded),
  ];
  if (problems.length > 0) {
    const list = problems.map((problem) => `- ${problem}`).join('\n');
    throw new UserActionError(`The actions in ${folder} cannot be loaded:\n${list}`);
  }
  return loaded.flatMap(({ actions }) => actions);
}

const ACTION_FILE = /^[^._].*\.(ts|mts|js|mjs)$/;
const NOT_ACTIONS = /\.(test|spec)\.\w+$|\.d\.m?ts$/;

const NO_FOLDER: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'it is a file; name the folder that it is in',
};

async function listFiles(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory() && ACTION_FILE.test(entry.name) && !NOT_ACTIONS.test(entry.name))
      .map(({ name }) => name)
      .sort();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const reason = NO_FOLDER[code ?? ''] ?? messageOf(cause);
    throw new UserActionError(`The folder of actions ${folder} cannot be read: ${reason}`, { cause });
  }
}

interface LoadedFile {
  readonly actions: readonly ActionDefinition[];
  readonly problems: readonly string[];
}

async function loadFile(path: string): Promise<LoadedFile> {
  let exported: Record<string, unknown>;
  try {
    exported = (await import(pathToFileURL(resolve(path)).href)) as Record<string, unknown>;
  } catch (thrown) {
    return { actions: [], problems: [`it cannot be loaded: ${loadProblem(path, thrown)}`] };
  }
  // The same definition may be exported under two names, e.g. also as the default.
  const actions = [...new Set(Object.values(exported).filter(isActionDefinition))];
  const problems = Object.entries(exported).flatMap(([name, value]) => exportProblems(name, value));
  if (actions.length === 0 && problems.length === 0) {
    problems.push('it exports no action; make one with defineAction, or begin the name of shared code with "_"');
  }
  return { actions, problems };
}

function exportProblems(name: string, value: unknown): string[] {
  if (isActionDefinition(value)) return shapeProblems(value).map((problem) => `the export "${name}" ${problem}`);
  const looksLikeOne = typeof value === 'object' && value !== null && 'type' in value && 'run' in value;
  return looksLikeOne ? [`the export "${name}" looks like an action but was not made with defineAction`] : [];
}

/** The checks that TypeScript makes for its users. */
function shapeProblems(action: ActionDefinition): string[] {
  const texts = (['type', 'version', 'connector', 'category'] as const)
    .filter((field) => typeof action[field] !== 'string')
    .map((field) => `has no ${field}`);
  const schemas = (['params', 'outputs'] as const)
    .filter((field) => typeof (action[field] as { safeParse?: unknown } | undefined)?.safeParse !== 'function')
    .map((field) => `has ${field} that are not a zod schema`);
  return [...texts, ...schemas, ...(typeof action.run === 'function' ? [] : ['has no run function'])];
}

function duplicateProblems(loaded: readonly { file: string; actions: readonly ActionDefinition[] }[]): string[] {
  const files = new Map<string, string[]>();
  for (const { file, actions } of loaded) {
    for (const { type } of actions) files.set(type, [...(files.get(type) ?? []), file]);
  }
  return [...files]
    .filter(([, where]) => where.length > 1)
    .map(([type, where]) => `${type} is defined more than once: in ${where.join(' and ')}`);
}

/** With the line, which a syntax error has only in its stack, and with advice where Node gives none. */
function loadProblem(path: string, thrown: unknown): string {
  const message = messageOf(thrown);
  if (message.includes('outside a module')) {
    return `${message}: name it ${path.endsWith('ts') ? '.mts' : '.mjs'}, or set "type": "module" in the package.json of its folder`;
  }
  const [, line] = /^\S*?:(\d+)\n/.exec((thrown instanceof SyntaxError && thrown.stack) || '') ?? [];
  return line === undefined ? message : `line ${line}: ${message}`;
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
