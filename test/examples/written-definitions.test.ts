// Every definition in the README or in a page of docs/ can be published as it is.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import builtIn from '../../schemas/actions.json' with { type: 'json' };
import { compileDefinition, detectFormat } from '../../src/core/definition/compile.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const PAGES = ['README.md', ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`)];

/**
 * Blocks of JSON that are whole definitions. Parts of definitions, and blocks that leave something out, do not parse or have
 * no format.
 */
const WRITTEN = PAGES.filter((page) => page.endsWith('.md')).flatMap((page) =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```json\n(.*?)^```$/gms)].flatMap(([, text], index) => {
    const value = parsed(text!);
    return detectFormat(value) === null ? [] : [{ place: `${page}, block ${index + 1}`, value }];
  }),
);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

describe('definitions in the documentation', () => {
  it('the documentation has definitions', () => {
    expect(WRITTEN.length).toBeGreaterThan(3);
    expect(WRITTEN.filter(({ place }) => place.startsWith('README')).length).toBe(3);
  });

  it.each(WRITTEN)('the definition in $place is valid', ({ value }) => {
    const result = compileDefinition(value, { actions: new Set(builtIn) });
    expect(result.ok ? [] : result.problems).toEqual([]);
  });
});
