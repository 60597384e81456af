// The house rules, as a test. Each rule is checked on the whole tree, and each is itself tested on samples that break
// it: a rule that cannot fail is worth nothing. The rules are in tidy/rule/, the layer table in tidy/layers.ts, and the
// few places that may break a rule in tidy/exceptions.ts.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { staleFiles } from '../scripts/generate-architecture.ts';
import { exceptions, forbiddenExceptions, isExcepted, staleExceptions } from './tidy/exceptions.ts';
import { layers, roomOf } from './tidy/layers.ts';
import { unusedPackages } from './tidy/rule/import.ts';
import { describeFinding } from './tidy/rule.ts';
import { rules } from './tidy/rules.ts';
import { boundarySamples } from './tidy/sample/boundary.ts';
import { documentSamples } from './tidy/sample/document.ts';
import { importSamples } from './tidy/sample/import.ts';
import { leftoverSamples } from './tidy/sample/leftover.ts';
import { puritySamples } from './tidy/sample/purity.ts';
import { shapeSamples } from './tidy/sample/shape.ts';
import { readTree, treeOf } from './tidy/tree.ts';

const tree = readTree(fileURLToPath(new URL('..', import.meta.url)));
const samples = [
  ...shapeSamples,
  ...importSamples,
  ...puritySamples,
  ...boundarySamples,
  ...leftoverSamples,
  ...documentSamples,
];

describe('the tree keeps the rules', () => {
  it('was read', () => {
    expect([...tree.modules.keys()]).toContain('src/store/port.ts');
    expect([...tree.files.keys()].filter((path) => path.includes('node_modules'))).toEqual([]);
  });

  it.each(rules)('$name', (rule) => {
    const findings = rule.check(tree).filter((finding) => !isExcepted(rule.name, finding, exceptions));
    const lines = findings.map((finding) => describeFinding(rule, finding));
    if (lines.length > 0) expect.fail(`${lines.length} found\n${lines.join('\n')}`);
  });
});

describe('each rule can fail', () => {
  it('and has samples', () => {
    expect(samples.map(({ rule }) => rule).toSorted()).toEqual(rules.map(({ name }) => name).toSorted());
  });

  it.each(samples)('$rule', ({ rule: name, breaks, keeps }) => {
    const rule = rules.find((candidate) => candidate.name === name)!;
    for (const { files, at } of breaks) {
      const places = rule.check(treeOf(files)).map(({ file, line }) => `${file}:${line}`);
      expect(places, `must be found: ${JSON.stringify(files)}`).toEqual(at);
    }
    for (const files of keeps) expect(rule.check(treeOf(files)), `must pass: ${JSON.stringify(files)}`).toEqual([]);
  });

  it('and says where, which rule and what to do', () => {
    const rule = rules.find(({ name }) => name === 'no code from text')!;
    const [finding] = rule.check(treeOf({ 'src/core/a.ts': "// head\neval('1');" }));
    expect(describeFinding(rule, finding!)).toMatch(/^src\/core\/a\.ts:2 {2}no code from text: .+\n +how to fix: .+/);
  });
});

describe('exceptions', () => {
  const known = { rule: 'file length', file: 'bench/a.ts', reason: 'a table of numbers' };
  const finding = { file: 'bench/a.ts', line: 401, what: 'too long' };

  it('are needed, have a reason, and are none of core, engine and store', () => {
    const found = rules.flatMap((rule) => rule.check(tree).map((entry) => ({ rule: rule.name, finding: entry })));
    expect(staleExceptions(exceptions, found), 'no longer needed: delete from test/tidy/exceptions.ts').toEqual([]);
    expect(forbiddenExceptions(exceptions), 'not allowed there, or without a reason').toEqual([]);
  });

  it('forgive one rule in one file, and are stale when nothing is left to forgive', () => {
    expect(isExcepted('file length', finding, [known])).toBe(true);
    expect(isExcepted('header', finding, [known])).toBe(false);
    expect(staleExceptions([known], [{ rule: 'file length', finding }])).toEqual([]);
    expect(staleExceptions([known], [{ rule: 'header', finding }])).toEqual([known]);
  });

  it.each(['src/core/a.ts', 'src/engine/a.ts', 'src/store/postgres/a.ts'])('never in %s', (file) => {
    expect(forbiddenExceptions([{ ...known, file }])).toHaveLength(1);
    expect(forbiddenExceptions([known, { ...known, reason: ' ' }])).toHaveLength(1);
  });
});

describe('the layer table', () => {
  it('lets only src/app and main.ts know the implementations', () => {
    const secret = layers.filter(({ implementation }) => implementation).map(({ path }) => path);
    const told = layers.filter(({ imports }) => imports.some((path) => secret.includes(path)));
    expect(told.map(({ path }) => path)).toEqual(['src/app', 'src/main.ts']);
  });

  it('lets pure folders import only pure folders', () => {
    const impure = layers.filter(({ pure }) => !pure).map(({ path }) => path);
    const tainted = layers.filter(({ pure, imports }) => pure && imports.some((path) => impure.includes(path)));
    expect(tainted).toEqual([]);
  });

  it('allows no package that nobody imports', () => {
    expect(unusedPackages(tree), 'not needed: delete from test/tidy/layers.ts').toEqual([]);
    const sample = {
      'src/quota/a.ts': '// head\nexport const y = 1;',
      'src/action/monday/a.ts': "// head\nimport { x } from 'zod';\nexport const y = x;",
    };
    expect(unusedPackages(treeOf(sample))).toEqual(['src/action/monday: @mondaydotcomorg/api']);
    expect(unusedPackages(treeOf({ 'src/action/monday/a.test.ts': "import 'node:crypto';" }))).toEqual([]);
  });

  it('stands in order: a row imports only rows above it', () => {
    const order = layers.map(({ path }) => path);
    for (const [index, { path, imports }] of layers.entries()) {
      const above = order.slice(0, index);
      expect(
        imports.filter((name) => !above.includes(name)),
        `imports of ${path}`,
      ).toEqual([]);
    }
  });

  it.each(layers.filter(({ rooms }) => rooms !== undefined))('knows every folder of $path', ({ path, rooms = {} }) => {
    const below = [...tree.files.keys()].filter((file) => file.startsWith(`${path}/`));
    const folders = below.map((file) => file.slice(path.length + 1).split('/')).filter((parts) => parts.length > 1);
    expect(Object.keys(rooms).toSorted()).toEqual([...new Set(folders.map(([folder]) => folder))].toSorted());
  });

  it('finds the most specific row', () => {
    expect(roomOf('src/action/slack/a.ts')).toMatchObject({
      path: 'src/action/slack',
      layer: { path: 'src/action/slack' },
    });
    expect(roomOf('src/action/teams/a.ts')).toMatchObject({
      path: 'src/action/teams',
      layer: { path: 'src/action/*' },
    });
    expect(roomOf('src/action/registry.ts')).toMatchObject({ path: 'src/action' });
    expect(roomOf('src/index.ts')).toBeUndefined();
  });
});

describe('generated parts', () => {
  it('of ARCHITECTURE.md are up to date (npm run generate)', () => {
    expect(staleFiles()).toEqual([]);
  });
});

describe('commits', () => {
  // The rule is younger than the history. A date stays true when commits are rebased or squashed, which a hash does not.
  const since = '--since=2026-11-18T00:00:00Z';
  const log = spawnSync('git', ['log', '--no-merges', '--format=%s', since], { encoding: 'utf8' });
  const isSubject = (subject: string) => subject.length <= 72 && /^[A-Z].*[^.]$/.test(subject);

  it.skipIf(log.status !== 0)('have a subject of at most 72 characters; the reason goes into the body', () => {
    const subjects = log.stdout.split('\n').filter((line) => line !== '');
    expect(subjects.filter((subject) => !isSubject(subject))).toEqual([]);
  });

  it('are refused for a subject that is long, ends with a full stop or begins in lower case', () => {
    expect(isSubject('Update the changelog')).toBe(true);
    expect(['x'.repeat(73), 'Update the changelog.', 'update the changelog'].map(isSubject)).toEqual([
      false,
      false,
      false,
    ]);
  });
});
