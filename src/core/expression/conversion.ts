// The context of converting one expression: the names in scope, and the list of problems.

import type * as acorn from 'acorn';
import type { Expr, Span } from './ast.ts';
import { FUNCTIONS } from './functions.ts';
import type { Finding } from './problem.ts';

export interface Conversion {
  readonly roots: readonly string[];
  /** Parameters of the enclosing arrow functions; the position is the slot. */
  readonly locals: string[];
  readonly convert: (node: acorn.AnyNode) => Expr;
  readonly report: (node: acorn.AnyNode, finding: Finding) => void;
  /** In the source as the author wrote it. */
  readonly span: (node: acorn.AnyNode) => Span;
}

/** Stands for a refused part, so that the rest is still checked. It is never evaluated. */
export const REFUSED: Expr = { op: 'const', value: null };

export function refuse(conversion: Conversion, node: acorn.AnyNode, finding: Finding): Expr {
  conversion.report(node, finding);
  return REFUSED;
}

/** Names that are not values: `Math`, `Number`, `Object`, … */
export const NAMESPACES: ReadonlySet<string> = new Set(
  [...FUNCTIONS.keys()].filter((name) => name.includes('.')).map((name) => name.slice(0, name.indexOf('.'))),
);

export function isData(conversion: Conversion, name: string): boolean {
  return conversion.locals.includes(name) || conversion.roots.includes(name);
}

/** The namespace that a node names, unless the scope or a parameter shadows it. */
export function namespaceOf(conversion: Conversion, node: acorn.AnyNode): string | undefined {
  if (node.type !== 'Identifier' || isData(conversion, node.name)) return undefined;
  return NAMESPACES.has(node.name) ? node.name : undefined;
}

/** The name of a member that is written literally: `a.b`, `a['b']`, `a[0]`. */
export function writtenKey(node: acorn.MemberExpression): string | number | undefined {
  const { property } = node;
  if (!node.computed) return (property as acorn.Identifier | acorn.PrivateIdentifier).name;
  if (property.type !== 'Literal') return undefined;
  return typeof property.value === 'string' || typeof property.value === 'number' ? property.value : undefined;
}
