// The tree of an expression. It is ours, not the parser's, and plain JSON, so a stored plan can hold it. Only constructs that the
// language allows have a shape here, so nothing else can be run (S3). Chains of `+`, `&&` and `||` are flat: a long condition is
// not a deep one.

export type Expr =
  | { readonly op: 'const'; readonly value: string | number | boolean | null }
  /** Values that JSON cannot hold. */
  | { readonly op: 'special'; readonly name: SpecialName }
  /** A name of the scope, e.g. `trigger`. */
  | ({ readonly op: 'root'; readonly name: string } & Span)
  /** A parameter of an enclosing arrow function. Nothing recurses, so each parameter has one fixed slot. */
  | { readonly op: 'local'; readonly slot: number }
  | ({ readonly op: 'member'; readonly object: Expr; readonly key: string | number } & Optional & Span)
  | ({ readonly op: 'index'; readonly object: Expr; readonly index: Expr } & Optional & Span)
  | ({ readonly op: 'method'; readonly object: Expr; readonly name: string; readonly args: readonly Expr[] } & Optional)
  /** The end of a chain with `?.`: the whole chain is undefined when one of its objects is missing. */
  | { readonly op: 'chain'; readonly body: Expr }
  /** Only as the first argument of a method that calls back. */
  | { readonly op: 'arrow'; readonly slot: number; readonly params: number; readonly body: Expr }
  | { readonly op: 'function'; readonly name: string; readonly args: readonly Expr[] }
  | { readonly op: 'array'; readonly items: readonly Expr[] }
  | { readonly op: 'object'; readonly items: readonly Expr[] }
  /** Only inside `object`. */
  | { readonly op: 'property'; readonly key: Expr; readonly value: Expr }
  /** Only inside `array`, `object` and arguments. */
  | { readonly op: 'spread'; readonly value: Expr }
  /** A template literal: its parts as text, joined. */
  | { readonly op: 'text'; readonly parts: readonly Expr[] }
  | { readonly op: 'unary'; readonly operator: UnaryOperator; readonly value: Expr }
  | { readonly op: 'binary'; readonly operator: BinaryOperator; readonly left: Expr; readonly right: Expr }
  | { readonly op: 'sum'; readonly items: readonly Expr[] }
  | { readonly op: 'and'; readonly items: readonly Expr[] }
  | { readonly op: 'or'; readonly items: readonly Expr[] }
  | { readonly op: 'nullish'; readonly left: Expr; readonly right: Expr }
  | { readonly op: 'conditional'; readonly test: Expr; readonly then: Expr; readonly otherwise: Expr }
  /** The root of an expression in the pipeline dialect. Below it, a member of a missing value is missing too. */
  | { readonly op: 'pipeline'; readonly body: Expr };

/** Offsets in the source as the author wrote it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

interface Optional {
  readonly optional?: true;
}

type SpecialName = 'undefined' | 'NaN' | 'Infinity';
export const UNARY_OPERATORS = ['!', '-', '+', 'typeof'] as const;
export type UnaryOperator = (typeof UNARY_OPERATORS)[number];
export const BINARY_OPERATORS = [
  '-',
  '*',
  '/',
  '%',
  '**',
  '==',
  '!=',
  '===',
  '!==',
  '<',
  '<=',
  '>',
  '>=',
  'in',
] as const;
export type BinaryOperator = (typeof BINARY_OPERATORS)[number];

export function children(expr: Expr): readonly Expr[] {
  switch (expr.op) {
    case 'const':
    case 'special':
    case 'root':
    case 'local':
      return [];
    case 'member':
      return [expr.object];
    case 'index':
      return [expr.object, expr.index];
    case 'method':
      return [expr.object, ...expr.args];
    case 'chain':
    case 'arrow':
    case 'pipeline':
      return [expr.body];
    case 'function':
      return expr.args;
    case 'array':
    case 'object':
    case 'sum':
    case 'and':
    case 'or':
      return expr.items;
    case 'property':
      return [expr.key, expr.value];
    case 'spread':
    case 'unary':
      return [expr.value];
    case 'text':
      return expr.parts;
    case 'binary':
    case 'nullish':
      return [expr.left, expr.right];
    case 'conditional':
      return [expr.test, expr.then, expr.otherwise];
  }
}

export function sizeOf(expr: Expr): number {
  return children(expr).reduce((sum, child) => sum + sizeOf(child), 1);
}

export function heightOf(expr: Expr): number {
  return children(expr).reduce((height, child) => Math.max(height, heightOf(child) + 1), 1);
}
