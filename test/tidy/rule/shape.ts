// Rules about the shape of files: how long, how named, how they begin, what they export.

import type { Program } from 'acorn';
import { lineOfNode } from '../module.ts';
import { type Finding, inModules, inSyntax, type Rule } from '../rule.ts';
import { isShipped, type Tree } from '../tree.ts';

const fileCap = 400;
const functionCap = 70;
const packageRoot = 'src/main.ts';

const inSource = (path: string): boolean => path.startsWith('src/');
const inProduct = (path: string): boolean => inSource(path) && !path.endsWith('.test.ts');
const inCode = (path: string): boolean => /^(src|test|bench|scripts)\/.*\.ts$/.test(path);

const emptyNames = ['utils', 'util', 'helpers', 'helper', 'common', 'types', 'manager', 'managers'];
const kebabCase = /^[a-z0-9]+(-[a-z0-9]+)*$/;

export const shapeRules: readonly Rule[] = [
  {
    name: 'erasable TypeScript',
    fix: 'Node only strips types: no enums, namespaces or parameter properties, and it must parse',
    check: (tree) => tree.unreadable.map(({ path, message }) => ({ file: path, line: 1, what: message })),
  },
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
    name: 'function length',
    fix: 'name its stages and make each a function',
    check: inSyntax(isShipped, (node) => {
      if (!node.type.includes('Function') || node.loc == null) return undefined;
      const lines = node.loc.end.line - node.loc.start.line + 1;
      return lines > functionCap ? `${lines} lines, at most ${functionCap}` : undefined;
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
    name: 'no default exports',
    fix: 'export it by its name, so that it has one name everywhere',
    check: inSyntax(inSource, (node) => (node.type === 'ExportDefaultDeclaration' ? 'default export' : undefined)),
  },
  {
    name: 'no barrels',
    fix: `import from the file that owns the name; only ${packageRoot} re-exports`,
    check: inModules(inSource, ({ path, program }) => {
      if (/(^|\/)index\.ts$/.test(path)) return [{ file: path, line: 1, what: 'index.ts' }];
      const barrel = path !== packageRoot && isBarrel(program);
      return barrel ? [{ file: path, line: lineOfNode(program.body[0]!), what: 'only re-exports' }] : [];
    }),
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
  {
    name: 'kebab-case',
    fix: 'write names as kebab-case.ts (kebab-case.test.ts beside it), folders likewise',
    check: (tree) =>
      pathsOf(tree, inCode).flatMap((path): Finding[] => {
        const parts = path.replace(/(\.(test|testing|config))?\.ts$/, '').split('/');
        const odd = parts.find((part) => !kebabCase.test(part));
        return odd === undefined ? [] : [{ file: path, line: 1, what: `'${odd}' is not kebab-case` }];
      }),
  },
];

function pathsOf(tree: Tree, inScope: (path: string) => boolean): string[] {
  return [...tree.files.keys()].filter(inScope);
}

/** Types are gone by now, so a file that only declares types has no statements and is no barrel. */
function isBarrel({ body }: Program): boolean {
  const reExports = body.filter(
    (statement) =>
      statement.type === 'ExportAllDeclaration' ||
      (statement.type === 'ExportNamedDeclaration' && statement.source != null),
  );
  return reExports.length > 0 && reExports.length === body.length;
}
