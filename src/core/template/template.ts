// A compiled parameter tree: a JSON value whose strings were searched for `{{ expression }}`. JSON-serialisable, like the plan
// that holds it. compile.ts makes it, render.ts renders it.

import type { Expr } from '../expression/ast.ts';
import type { Json } from '../json/json.ts';

export type Template =
  /** Nothing to render below this point. */
  | { readonly kind: 'literal'; readonly value: Json }
  /** The string was exactly one `{{ … }}`: the value itself, not its text. */
  | { readonly kind: 'value'; readonly piece: Piece }
  | { readonly kind: 'text'; readonly parts: readonly (string | Piece)[] }
  | { readonly kind: 'array'; readonly items: readonly Template[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [string, Template])[] };

export interface Piece {
  /** As written between the braces, trimmed: error messages quote it. */
  readonly source: string;
  readonly expr: Expr;
}
