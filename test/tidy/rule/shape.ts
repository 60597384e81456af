// Rules about the shape of files: their length, their first line, their name. Biome checks the rest.

import { type Finding, inModules, type Rule } from '../rule.ts';
import type { Tree } from '../tree.ts';

const fileCap = 400;

const inSource = (path: string): boolean => path.startsWith('src/');
const inProduct = (path: string): boolean => inSource(path) && !path.endsWith('.test.ts');
const inCode = (path: string): boolean => /^(src|test|bench|scripts)\/.*\.ts$/.test(path);

const emptyNames = ['utils', 'util', 'helpers', 'helper', 'common', 'types', 'manager', 'managers'];

export const shapeRules: readonly Rule[] = [
  {
    name: 'file length',
    fix: 'a concept is missing: find its name and give it a file',
    check: (tree) =>
      pathsOf(tree, inCode).flatMap((path) => {
        const lines = tree.files.get(path)!.replace(/\n$/, '').split('\n').length;
        return lines > fileCap ? [{ file: path, line: fileCap + 1, what: `${lines} lines, at most ${fileCap}` }] : [];
      }),
  },
  {
    name: 'header',
    fix: 'begin the file with a comment: its job, its boundary, its invariants by number',
    // The names of its tests say what a test file is about.
    check: inModules(inProduct, ({ path, comments }) =>
      comments.some(({ line }) => line === 1) ? [] : [{ file: path, line: 1, what: 'no comment on the first line' }],
    ),
  },
  {
    name: 'names say what is inside',
    fix: 'name the file or folder after the noun it owns',
    check: (tree) =>
      pathsOf(tree, () => true).flatMap((path): Finding[] => {
        const empty = path.split('/').find((part) => emptyNames.includes(part.replace(/\..*$/, '')));
        return empty === undefined ? [] : [{ file: path, line: 1, what: `'${empty}' could hold anything` }];
      }),
  },
];

function pathsOf(tree: Tree, inScope: (path: string) => boolean): string[] {
  return [...tree.files.keys()].filter(inScope);
}
