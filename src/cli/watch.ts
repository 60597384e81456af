// `pawl dev --watch DIR`: publishes the definitions of a folder, and publishes each again when its file changes. Problems are
// shown in their lines, as by `pawl validate`, and the previous version stays live. A change in the actions folder restarts the
// server, because a process loads a module only once.

import { type ChildProcess, spawn } from 'node:child_process';
import { type FSWatcher, globSync, watch } from 'node:fs';
import { join } from 'node:path';
import { detectFormat } from '../core/definition/compile.ts';
import { createClient, type GraphDefinition } from '../sdk/client.ts';
import { UsageError } from './exit.ts';
import { type DefinitionText, readDefinitionFile } from './file/definition-file.ts';
import { lifecycleFile } from './file/lifecycle-file.ts';
import { printable } from './file/line-map.ts';
import { reasonUnread } from './file/unreadable.ts';
import { refusedProblems } from './publication.ts';
import { judge, toText } from './terminal/definition-report.ts';

/** Editors write a file in several steps. */
const SETTLED_MS = 150;

const say = (text: string): void => void process.stderr.write(text);

/** The returned function stops watching. */
export async function watchDefinitions(folder: string, url: string): Promise<() => void> {
  const isDefinition = (name: string) =>
    name.endsWith('.json') && !name.endsWith('.test.json') && !name.split('/').includes('node_modules');
  const files = globSync('**/*.json', { cwd: folder }).filter(isDefinition).sort();
  for (const name of files) await publishFile(join(folder, name), url);
  let queue = Promise.resolve();
  const watcher = watching(folder, (name) => {
    if (isDefinition(name)) queue = queue.then(() => publishFile(join(folder, name), url));
  });
  return () => watcher.close();
}

function watching(folder: string, changed: (name: string) => void): FSWatcher {
  const settling = new Map<string, NodeJS.Timeout>();
  try {
    return watch(folder, { recursive: true }, (_event, name) => {
      if (name === null) return;
      clearTimeout(settling.get(name));
      settling.set(
        name,
        setTimeout(() => {
          settling.delete(name);
          changed(name);
        }, SETTLED_MS),
      );
    });
  } catch (error) {
    throw new UsageError(`cannot watch ${printable(folder)}: ${reasonUnread(error)}`);
  }
}

async function publishFile(path: string, url: string): Promise<void> {
  const read = readDefinitionFile(path);
  // The file was deleted. The published version stays until somebody archives or deletes it.
  if (read.kind === 'unreadable') return;
  if (read.kind === 'bad') return say(toText(judge(read)));
  const { value } = read.source;
  const lifecycle = lifecycleFile(value);
  if (detectFormat(value) === null && lifecycle?.format !== 'lifecycle') return;
  const server = createClient({ url });
  try {
    if (lifecycle?.format === 'lifecycle') {
      const { definition, policies } = lifecycle;
      const { env, name, version } = await server.lifecycles.import({ definition, policies } as never);
      return say(`✓ ${printable(path)}: lifecycle ${env}/${name}, version ${version}\n`);
    }
    const { workflowId, version, status } = await server.workflows.publish(value as GraphDefinition);
    say(`✓ ${printable(path)}: ${workflowId}, version ${version}, ${status}\n`);
  } catch (error) {
    say(refusalOf(read, error));
  }
}

function refusalOf(read: Extract<DefinitionText, { kind: 'json' }>, error: unknown): string {
  const refused = refusedProblems(error);
  if (refused !== null) return toText(judge(read, { refused: refused.problems, lifecycles: true }));
  return `✗ ${printable(read.file.name)}: ${printable((error as Error).message)}\n`;
}

/** Runs this command in a child process, and restarts it whenever the actions folder changes. Returns the last exit code. */
export async function restartedOnChange(folder: string): Promise<number> {
  let child: ChildProcess;
  let isStopping = false;
  let goOn = () => {};
  const watcher = watching(folder, () => {
    say('… the actions have changed: starting again\n');
    child.kill('SIGINT');
    goOn();
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      isStopping = true;
      child.kill(signal);
      goOn();
    });
  }
  try {
    for (;;) {
      child = spawn(process.execPath, [...process.argv.slice(1), '--supervised'], { stdio: 'inherit' });
      const code = await new Promise<number>((resolve) => child.once('exit', (exit) => resolve(exit ?? 1)));
      if (!isStopping && code !== 0) {
        say('… waiting for a change of the actions\n');
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
      }
      if (isStopping) return code;
    }
  } finally {
    watcher.close();
  }
}
