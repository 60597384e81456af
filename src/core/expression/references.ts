// Finds the paths of the scope that an expression reads, without running it. The compiler uses them to refuse references to nodes
// that do not exist or are not upstream, and to keep only referenced data in memory. Error messages use them to name the missing
// value.

import { children, type Expr } from './ast.ts';

export interface Reference {
  readonly path: readonly (string | number)[];
  /** Under the left side of `??`, or reached through `?.`: it may be missing. */
  readonly guarded: boolean;
  /** Offsets in the expression's source. */
  readonly start: number;
  readonly end: number;
}

export function references(expr: Expr): Reference[] {
  const found: Reference[] = [];
  collect(expr, false, found);
  return found.sort((left, right) => left.start - right.start);
}

type PathNode = Extract<Expr, { op: 'root' | 'member' | 'index' }>;

function collect(expr: Expr, guarded: boolean, found: Reference[]): void {
  if (expr.op === 'nullish') {
    collect(expr.left, true, found);
    collect(expr.right, guarded, found);
  } else if (expr.op === 'root' || expr.op === 'member' || expr.op === 'index') {
    collectPath(expr, guarded, found);
  } else {
    const inherited = guarded || (expr.op === 'method' && expr.optional === true);
    for (const child of children(expr)) collect(child, inherited, found);
  }
}

function collectPath(end: PathNode, guarded: boolean, found: Reference[]): void {
  const nodes: PathNode[] = [];
  let node: Expr = end;
  let optional = false;
  while (node.op === 'member' || node.op === 'index') {
    nodes.unshift(node);
    optional ||= node.optional === true;
    if (node.op === 'index') collect(node.index, guarded, found);
    node = node.object;
  }
  if (node.op !== 'root') {
    collect(node, guarded || optional, found);
    return;
  }
  const path: (string | number)[] = [node.name];
  let last: PathNode = node;
  for (const next of nodes) {
    if (next.op !== 'member') break;
    path.push(next.key);
    last = next;
  }
  found.push({
    path,
    guarded: guarded || optional,
    start: last.start,
    end: last.end,
  });
}

/** The path as an author would write it: `context.data['get-item'].items[0]`. */
export function pathText(path: readonly (string | number)[]): string {
  return path.map((key, index) => keyText(key, index === 0)).join('');
}

function keyText(key: string | number, isFirst: boolean): string {
  if (typeof key === 'number') return `[${key}]`;
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `['${key}']`;
  return isFirst ? key : `.${key}`;
}
