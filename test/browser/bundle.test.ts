// The size limits of the dashboard's files, packed with gzip: the files of a first visit, and all files together.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const DIST = join(import.meta.dirname, '..', '..', 'dashboard', 'dist');
const ASSETS = join(DIST, 'assets');
const FIRST_LOAD_BYTES = 200 * 1024;
const EVERYTHING_BYTES = 900 * 1024;

const packedBytes = (name: string): number => statSync(join(ASSETS, `${name}.gz`)).size;

/** The files that a file needs before it can run. */
function neededBy(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  const text = name.endsWith('.js') ? readFileSync(join(ASSETS, name), 'utf8') : '';
  for (const [, next] of text.matchAll(/(?:\bfrom|\bimport)\s*"\.\/([\w.-]+\.js)"/g)) neededBy(next!, seen);
  return seen;
}

const find = (part: RegExp): string => readdirSync(ASSETS).find((name) => part.test(name))!;

describe('the size limits of the dashboard', () => {
  it('a first visit to the overview loads at most 200 KB', () => {
    const html = readFileSync(join(DIST, 'index.html'), 'utf8');
    const linked = [...html.matchAll(/\/assets\/([\w.-]+\.(?:js|css))"/g)].map(([, name]) => name!);
    const files = new Set([...linked, find(/^overview-page-.*\.js$/)].flatMap((name) => [...neededBy(name)]));
    const bytes = [...files].map(packedBytes).reduce((sum, each) => sum + each, 0);
    expect(files.size).toBeGreaterThan(2);
    expect(bytes, [...files].join(', ')).toBeLessThanOrEqual(FIRST_LOAD_BYTES);
  });

  it('everything together is at most 900 KB', () => {
    const names = readdirSync(ASSETS).filter((name) => name.endsWith('.js') || name.endsWith('.css'));
    const bytes = names.map(packedBytes).reduce((sum, each) => sum + each, 0);
    expect(bytes).toBeLessThanOrEqual(EVERYTHING_BYTES);
  });
});
