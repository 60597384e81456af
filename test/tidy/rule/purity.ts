// Rules for the pure folders: the same input gives the same output, byte for byte (I16), because nothing but the input
// can be reached. Tests beside the files may use anything.

import type { AnyNode } from 'acorn';
import { isPure } from '../layers.ts';
import { inModules, inSyntax, type Rule } from '../rule.ts';
import { isShipped } from '../tree.ts';
import { isReference, memberName } from '../walk.ts';

const inPureFolders = (path: string): boolean => isShipped(path) && isPure(path);

const bannedMembers = new Set(['Date.now', 'Math.random']);
const bannedGlobals = new Set([
  'clearInterval',
  'clearTimeout',
  'console',
  'fetch',
  'global',
  'globalThis',
  'performance',
  'process',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
  'setTimeout',
]);

export const purityRules: readonly Rule[] = [
  {
    name: 'pure',
    fix: 'take time, randomness and ids as data; leave waiting and effects to the caller',
    check: inSyntax(inPureFolders, (node, parent) => impurity(node, parent)),
  },
  {
    name: 'no node: modules in pure folders',
    fix: 'take the value as an argument, or do this in a layer that may touch the machine',
    check: inModules(inPureFolders, (module) =>
      module.imports
        .filter(({ specifier }) => specifier?.startsWith('node:'))
        .map(({ specifier, line }) => ({ file: module.path, line, what: `imports ${specifier}` })),
    ),
  },
  {
    name: 'no module state',
    fix: 'keep the state in a value that the caller holds; a constant table is filled where it is declared',
    check: inSyntax(inPureFolders, (node, parent) => {
      if (node.type !== 'VariableDeclaration') return undefined;
      if (parent?.type !== 'Program' && parent?.type !== 'ExportNamedDeclaration') return undefined;
      if (node.kind !== 'const') return `${node.kind} at module level`;
      return node.declarations.some(({ init }) => isEmptyCollection(init)) ? 'a collection to fill later' : undefined;
    }),
  },
];

function impurity(node: AnyNode, parent: AnyNode | undefined): string | undefined {
  switch (node.type) {
    case 'AwaitExpression':
      return 'await';
    case 'ForOfStatement':
      return node.await ? 'for await' : undefined;
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return node.async ? 'async function' : undefined;
    case 'MemberExpression': {
      const name = memberName(node);
      return name !== undefined && bannedMembers.has(name) ? name : undefined;
    }
    case 'NewExpression':
    case 'CallExpression':
      return node.callee.type === 'Identifier' && node.callee.name === 'Date' ? 'reads the clock with Date' : undefined;
    case 'Identifier':
      return bannedGlobals.has(node.name) && isReference(node, parent) ? node.name : undefined;
    default:
      return undefined;
  }
}

/** Not WeakMap: a memo keyed by an immutable value changes no answer and keeps nothing alive. */
function isEmptyCollection(init: AnyNode | null | undefined): boolean {
  if (init?.type !== 'NewExpression' || init.callee.type !== 'Identifier') return false;
  return ['Map', 'Set'].includes(init.callee.name) && init.arguments.length === 0;
}
