// Makes dist/: the sources as JavaScript with their types, and the files that they read at run time, laid out as in the
// repository, so that every path between them stays what it is. Only for publishing and images: Node refuses to strip types
// under node_modules, and here it runs the sources themselves.

import { spawnSync } from 'node:child_process';
import { cpSync, globSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');

/** Read by path, not imported: tsc does not know of them. */
const FILES = ['migrations', 'schemas', 'templates', 'package.json', ...globSync('src/**/*.{sql,js}', { cwd: ROOT })];

rmSync(DIST, { recursive: true, force: true });
const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
const { status } = spawnSync(tsc, ['-p', 'tsconfig.build.json'], { cwd: ROOT, stdio: ['ignore', 2, 2] });
if (status !== 0) process.exit(1);
for (const file of FILES) cpSync(join(ROOT, file), join(DIST, file), { recursive: true });
