// Rules about boundaries: SQL stays in the store, and no code is made from text.

import type { AnyNode } from 'acorn';
import { sqlFolder } from '../layers.ts';
import { type Finding, inModules, inSyntax, type Rule } from '../rule.ts';
import { isShipped } from '../tree.ts';
import { isReference } from '../walk.ts';

const outsideTests = (path: string): boolean => !path.endsWith('.test.ts');
const outsideStore = (path: string): boolean => isShipped(path) && !path.startsWith(`${sqlFolder}/`);

export const boundaryRules: readonly Rule[] = [
  {
    name: 'SQL only in the store',
    fix: 'name the query in the .sql file of its aggregate in src/store/postgres and reach it through a method of src/store/port.ts',
    check: inSyntax(outsideStore, (node) => {
      const text = literalText(node);
      return text !== undefined && looksLikeSql(text) ? `SQL text: ${text.trim().slice(0, 40)}…` : undefined;
    }),
  },
  {
    name: 'no code from text',
    fix: 'interpret data instead: src/core/expression evaluates expressions without a JavaScript engine (S3)',
    check: (tree) => [...codeFromText(tree), ...sandboxImports(tree)],
  },
];

/** The text of a string or template literal, with a `?` for each value put into it. */
function literalText(node: AnyNode): string | undefined {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  if (node.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.cooked ?? value.raw).join('?');
  return undefined;
}

const sqlStatement = new RegExp(
  [
    'select [^;]+ from [a-z_?"]',
    'select ([0-9]|[a-z_]+\\()',
    'insert into [a-z_?"]',
    'update [a-z_."?]+ set [a-z_"?]+ ?=',
    'delete from [a-z_."?]+ ?(where |using |returning |;|$)',
    'with (recursive )?[a-z_]+ (\\([^)]*\\) )?as (not )?(materialized )?\\(',
    '(create|alter|drop) (table|index|unique index|view|function|schema|type|database|sequence|role) [a-z_?"]',
    'truncate (table )?[a-z_?"]+ ?(;|$)',
  ]
    .map((start) => `^${start}`)
    .join('|'),
);

/** A statement begins in all lower or all upper case; prose ("Select a value from the list") with a capital. */
function looksLikeSql(text: string): boolean {
  const plain = text
    .replace(/--[^\n]*/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const first = plain.split(' ', 1)[0]!;
  const oneCase = first === first.toLowerCase() || first === first.toUpperCase();
  return oneCase && sqlStatement.test(plain.toLowerCase());
}

const codeFromText = inSyntax(outsideTests, (node, parent) => {
  if (node.type === 'Identifier' && node.name === 'eval' && isReference(node, parent)) return 'eval';
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return undefined;
  return node.callee.type === 'Identifier' && node.callee.name === 'Function' ? 'new Function' : undefined;
});

const sandboxImports = inModules(outsideTests, (module) =>
  module.imports
    .filter(({ specifier }) => specifier === 'node:vm' || specifier === 'vm')
    .map(({ line }): Finding => ({ file: module.path, line, what: 'node:vm is no sandbox' })),
);
