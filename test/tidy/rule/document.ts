// Rules for what people read: a document that sends its reader to a file that is not there is worse than none.

import type { Finding, Rule } from '../rule.ts';
import type { Tree } from '../tree.ts';

// History may name what is gone: the changelog and the decisions are left as they were written.
const isLiving = (path: string): boolean =>
  path.endsWith('.md') && path !== 'CHANGELOG.md' && !path.startsWith('docs/decisions/');

/** `src/store/port.ts` in backticks; placeholders (`src/action/<connector>`, `src/action/*`) stand for what is to be made. */
const quotedPath = /`((?:src|test|scripts|bench|migrations|docs|examples|schemas)\/[^`\s<>*…]*)`/g;

export const documentRules: readonly Rule[] = [
  {
    name: 'documents name real files',
    fix: 'correct the path; where the thing is only planned, say "to come" on the same line',
    check: (tree) => [...tree.files].filter(([path]) => isLiving(path)).flatMap((entry) => missingPaths(tree, entry)),
  },
];

function missingPaths(tree: Tree, [file, text]: readonly [string, string]): Finding[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.includes('to come')) return [];
    return Array.from(line.matchAll(quotedPath), (match) => match[1]!)
      .filter((path) => !exists(tree, path.replace(/\/$/, '')))
      .map((path) => ({ file, line: index + 1, what: `there is no ${path}` }));
  });
}

function exists(tree: Tree, path: string): boolean {
  return tree.files.has(path) || [...tree.files.keys()].some((file) => file.startsWith(`${path}/`));
}
