// Builds dist/: the sources as JavaScript with their types, and the files that they read at run time. The layout is that of the
// repository, so that every path between them stays the same. Needed only for publishing and for images: Node refuses to strip
// types under node_modules, and in the repository it runs the sources themselves.

import { spawnSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { billOfMaterials, type LockFile } from './sbom.ts';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');

/** These files are read by path, not imported: tsc does not know of them. */
const FILES = ['migrations', 'schemas', 'templates', 'dashboard/dist', ...globSync('src/**/*.{sql,js}', { cwd: ROOT })];

run(process.execPath, join(ROOT, 'scripts', 'dashboard.js'));
rmSync(DIST, { recursive: true, force: true });
run(join(ROOT, 'node_modules', '.bin', 'tsc'), '-p', 'tsconfig.build.json');
const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as LockFile;
writeFileSync(join(DIST, 'sbom.cdx.json'), `${JSON.stringify(billOfMaterials(lock), null, 2)}\n`);
// The fields that the sources read; `exports` and similar fields would mean nothing here.
const { name, version, description, license, type, engines } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
) as Record<string, unknown>;
const about = { name, version, description, license, type, engines };
writeFileSync(join(DIST, 'package.json'), `${JSON.stringify(about, null, 2)}\n`);
for (const file of FILES) cpSync(join(ROOT, file), join(DIST, file), { recursive: true });

function run(program: string, ...args: string[]): void {
  const { status } = spawnSync(program, args, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
}
