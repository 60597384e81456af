// Builds the dashboard into dashboard/dist and compresses its files, so that the server only reads them. Runs at `npm ci`
// (prepare) and before publishing. An installation without the development packages has nothing to build with, and nothing to
// build. A build of the same sources stays as it is, so that a page that is being served loses no file.

import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'dashboard');
const ASSETS = join(FOLDER, 'dist', 'assets');

if (!existsSync(join(FOLDER, 'vite.config.ts')) || !existsSync(join(ROOT, 'node_modules', 'vite'))) {
  console.warn('The dashboard is not built: its development packages are not installed.');
  process.exit(0);
}

const SEEN = join(ROOT, 'node_modules', '.cache', 'pawl-dashboard.txt');
const sources = globSync(['dashboard/src/**/*.*', 'dashboard/*.*', 'src/**/*.ts', 'package-lock.json'], {
  cwd: ROOT,
}).sort();
const hash = createHash('sha256');
for (const name of sources) hash.update(name).update(readFileSync(join(ROOT, name)));
const digest = hash.digest('hex');
if (existsSync(join(FOLDER, 'dist', 'index.html')) && existsSync(SEEN) && readFileSync(SEEN, 'utf8') === digest)
  process.exit(0);

const { build } = await import('vite');
await build({ configFile: join(FOLDER, 'vite.config.ts'), logLevel: 'warn', mode: 'production' });
for (const name of readdirSync(ASSETS)) {
  const file = join(ASSETS, name);
  const bytes = readFileSync(file);
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
}
mkdirSync(dirname(SEEN), { recursive: true });
writeFileSync(SEEN, digest);
