// The interpreter as Temporal's sandbox wants it: one file of JavaScript. The package brings it along; from the sources it is bundled
// once, and kept by the checksum of what it was made from.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadWorkerSdk } from './sdk.ts';

/** Where `npm run build` puts it, beside this file. */
export const BUILT_BUNDLE = fileURLToPath(new URL('./interpreter-bundle.cjs', import.meta.url));

export async function interpreterBundle(): Promise<{ code: string } | { codePath: string }> {
  if (existsSync(BUILT_BUNDLE)) return { codePath: BUILT_BUNDLE };
  // From the sources it is TypeScript, from the built package JavaScript.
  const files = ['./interpreter.ts', './interpreter.js'].map((file) => fileURLToPath(new URL(file, import.meta.url)));
  const source = files.find((file) => existsSync(file)) ?? files[0]!;
  const { version } = JSON.parse(
    await readFile(fileURLToPath(import.meta.resolve('@temporalio/worker/package.json')), 'utf8'),
  ) as { version: string };
  const digest = createHash('sha256')
    .update(version)
    .update(await readFile(source))
    .digest('hex')
    .slice(0, 16);
  const kept = join(tmpdir(), `pawl-interpreter-${digest}`, 'bundle.cjs');
  if (existsSync(kept)) return { codePath: kept };
  const code = await bundleInterpreter(source);
  await mkdir(join(kept, '..'), { recursive: true });
  // Under another name until it is complete: two processes may write it at once.
  const partly = `${kept}.${process.pid}`;
  await writeFile(partly, code);
  await rename(partly, kept);
  return { code };
}

export async function bundleInterpreter(source: string): Promise<string> {
  const { bundleWorkflowCode, DefaultLogger } = await loadWorkerSdk();
  const { code } = await bundleWorkflowCode({ workflowsPath: source, logger: new DefaultLogger('ERROR') });
  return code;
}
