// The interpreter for Temporal's sandbox: one file of JavaScript. The package ships it; from the sources it is bundled once, and
// cached by the checksum of its inputs.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadWorkerSdk } from './sdk.ts';

/** `npm run build` puts it beside this file. */
export const BUILT_BUNDLE = fileURLToPath(new URL('./interpreter-bundle.cjs', import.meta.url));

export async function interpreterBundle(): Promise<{ code: string } | { codePath: string }> {
  if (existsSync(BUILT_BUNDLE)) return { codePath: BUILT_BUNDLE };
  // TypeScript in the sources, JavaScript in the built package.
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
  // Written under another name first, because two processes may write it at once.
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
