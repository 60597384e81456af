// What comes from third parties: licences, install scripts, and the bill of materials that is published with the package.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { billOfMaterials, installedPackages, type LockFile } from '../../scripts/sbom.ts';

const read = (file: string): unknown => JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'));
const lock = read('package-lock.json') as LockFile;
const { allowScripts } = read('package.json') as { allowScripts: Record<string, boolean> };

/** Licences that let anybody use, change and pass on the package. Weak copyleft only where the package is used unchanged. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC-BY-4.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
  'Zlib',
]);

/** For `(MIT OR GPL-3.0)` one allowed licence is enough; for `MIT AND ISC` both must be allowed. */
const isAllowed = (licence: string): boolean =>
  licence
    .replaceAll(/[()]/g, '')
    .split(/ OR /i)
    .some((choice) => choice.split(/ AND /i).every((name) => ALLOWED.has(name.trim())));

/** Licences that are in the files of the package, but not in the lock file. */
const KNOWN: Readonly<Record<string, string>> = { unionfs: 'Unlicense' };

it('every package has a licence that allows its use', () => {
  const refused = installedPackages(lock)
    .map(([name, { license = KNOWN[name] ?? 'none' }]) => `${name}: ${license}`)
    .filter((line) => !isAllowed(line.slice(line.indexOf(': ') + 2)));
  expect([...new Set(refused)]).toEqual([]);
});

it('no package runs an install script, unless package.json allows it', () => {
  const running = installedPackages(lock).filter(([, { hasInstallScript }]) => hasInstallScript === true);
  const unlisted = running.map(([name]) => name).filter((name) => allowScripts[name] === undefined);
  expect([...new Set(unlisted)]).toEqual([]);
});

it('the bill of materials lists the shipped packages with version and hash, and no development ones', () => {
  const { components } = billOfMaterials(lock) as {
    components: { name: string; version: string; purl: string; hashes?: { alg: string; content: string }[] }[];
  };
  const fastify = components.find(({ name }) => name === 'fastify');
  expect(fastify).toMatchObject({ purl: `pkg:npm/fastify@${fastify?.version}`, hashes: [{ alg: 'SHA-512' }] });
  expect(fastify?.hashes?.[0]?.content).toMatch(/^[0-9a-f]{128}$/);
  expect(components.map(({ name }) => name)).not.toContain('vitest');
});
