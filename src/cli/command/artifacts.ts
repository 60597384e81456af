// `pawl artifacts ID`: files that the attempts of an execution left, and the bytes of one of them.

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { Command } from 'commander';
import { MAX_PAGE } from '../../protocol/page.ts';
import { executionId } from '../argument.ts';
import { UsageError } from '../exit.ts';
import { printable } from '../file/line-map.ts';
import { allItems, type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

export function register(program: Command): void {
  clientCommand(program, 'artifacts', 'list the files that an execution left, or print one of them')
    .argument('<id>', 'the execution', executionId)
    .argument('[name]', 'the name or the id of one of them: its bytes go to standard output')
    .addHelpText('after', '\nExample:\n  pawl artifacts 01a1e49a-3c97-70f6-9cce-1172657ef103 report.csv > report.csv')
    .action(artifacts);
}

async function artifacts(id: string, name: string | undefined, flags: ClientFlags): Promise<void> {
  const { executions } = connect(flags);
  const found = await allItems((cursor) => executions.artifacts(id, { limit: MAX_PAGE, cursor }));
  if (name !== undefined) {
    const wanted = found.findLast((artifact) => artifact.name === name || artifact.artifactId === name);
    if (wanted === undefined)
      throw new UsageError(`the execution has no artifact "${name}": see \`pawl artifacts ${id}\``);
    const { body } = await executions.artifact(wanted.artifactId);
    return pipeline(Readable.fromWeb(body as ReadableStream), process.stdout, { end: false });
  }
  if (flags.json === true) return printJson({ data: found });
  if (found.length === 0) return void process.stdout.write('no artifacts\n');
  const rows = found.map(({ artifactId, nodeId, attempt, name: title, sizeBytes, contentType }) => [
    artifactId,
    printable(nodeId),
    String(attempt),
    printable(title),
    String(sizeBytes),
    printable(contentType),
  ]);
  process.stdout.write(table(['ARTIFACT', 'NODE', 'ATTEMPT', 'NAME', 'BYTES', 'TYPE'], rows));
}
