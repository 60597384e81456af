// `pawl lifecycle import`: checks the file here first, so that every problem is shown in its line, then sends it. Exit code 0
// when it is imported, 1 when it is refused, 2 when a file cannot be read.

import type { Json, JsonObject } from '../../core/json/json.ts';
import { compileLifecycle } from '../../lifecycle/machine/compile.ts';
import type { LifecycleImportJson } from '../../protocol/lifecycle.ts';
import { EXIT, UsageError } from '../exit.ts';
import { readDefinitionFile } from '../file/definition-file.ts';
import { type LifecycleFile, lifecycleFile } from '../file/lifecycle-file.ts';
import { printable } from '../file/line-map.ts';
import { type ClientFlags, connect } from '../server-client.ts';
import { reportDefinition } from '../terminal/definition-report.ts';
import { paintOn, printJson } from '../terminal/terminal.ts';

export interface ImportFlags extends ClientFlags {
  readonly policies?: string;
}

export async function importLifecycle(fileName: string, flags: ImportFlags): Promise<number> {
  const asJson = flags.json === true;
  const file = readLifecycle(fileName, asJson);
  if (typeof file === 'number') return file;
  if (file.format === 'policies') {
    throw new UsageError(
      `${printable(fileName)} has only policies: name the file of the lifecycle, and this one with --policies`,
    );
  }
  const policies = flags.policies === undefined ? file.policies : readPolicies(flags.policies, asJson);
  if (typeof policies === 'number') return policies;
  // Problems of the file itself are shown in their lines. Problems together with the stored policies are shown as the server
  // reports them.
  if (compileLifecycle(file.definition, file.policies).machine === null) {
    return reportDefinition(readDefinitionFile(fileName), { asJson, lifecycles: true });
  }
  const source = {
    definition: file.definition as JsonObject,
    ...(policies === null ? {} : { policies: policies as JsonObject }),
  };
  const answer = await connect(flags).lifecycles.import(source);
  if (asJson) printJson(answer);
  else process.stdout.write(textOf(answer));
  return EXIT.ok;
}

/** The exit code if the file is not a lifecycle. */
function readLifecycle(fileName: string, asJson: boolean): LifecycleFile | number {
  const read = readDefinitionFile(fileName);
  if (read.kind !== 'json') return reportDefinition(read, { asJson });
  const file = lifecycleFile(read.source.value);
  if (file === null)
    throw new UsageError(`${printable(fileName)} is not a lifecycle: it has no \`states\` and \`transitions\``);
  return file;
}

function readPolicies(fileName: string, asJson: boolean): Json | number {
  const file = readLifecycle(fileName, asJson);
  if (typeof file === 'number') return file;
  if (file.format !== 'policies') throw new UsageError(`${printable(fileName)} has no list of \`policies\``);
  const { policies } = file;
  return policies;
}

function textOf({ env, name, version, changed, warnings = [] }: LifecycleImportJson): string {
  const paint = paintOn(process.stdout);
  const told = warnings.map(({ code, path, message, suggestion }) => {
    const help = suggestion === undefined ? '' : `; ${suggestion}`;
    return `${paint('yellow', `warning[${code}]`)}: ${printable(`${message}${help} (${path})`)}\n`;
  });
  return `${told.join('')}${paint('green', '✓')} ${env}/${name}: version ${version}${changed ? '' : ', unchanged'}\n`;
}
