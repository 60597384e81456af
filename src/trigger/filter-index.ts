// Which of many filters an event may pass, without asking each of them. Most filters begin by comparing one field with one text
// or number (`trigger.shop == 17 && …`). The index finds those by the value of the field, so a thousand filters cost as little as one.
// It leaves out a filter only when asking it would give a plain "no": neither a "yes" nor a failure is ever lost.

import type { Expr } from '../core/expression/ast.ts';
import type { Json } from '../core/json/json.ts';

type Literal = string | number;

export interface IndexedFilter {
  /** null: there is none, or it cannot be read. */
  readonly expr: Expr | null;
  /** A pipeline sees the data of the event as the body of a request. */
  readonly isPipeline: boolean;
}

interface Field {
  /** From the event on. */
  readonly path: readonly string[];
  readonly byLiteral: Map<Literal, number[]>;
  readonly types: Set<string>;
  /** Every filter that begins with this field. */
  readonly all: number[];
}

interface Comparison {
  readonly path: readonly string[];
  readonly literal: Literal;
}

/** Comparing longer texts may use up the budget of the filter, which is a failure. */
const LONG_TEXT = 200;

export class FilterIndex {
  /** Places of filters that are always asked. */
  private readonly others: number[] = [];
  private readonly fields = new Map<string, Field>();

  constructor(filters: readonly IndexedFilter[]) {
    for (const [place, filter] of filters.entries()) {
      const first = firstComparison(filter);
      if (first === null) this.others.push(place);
      else this.add(place, first);
    }
  }

  private add(place: number, { path, literal }: Comparison): void {
    const name = JSON.stringify(path);
    const field: Field = this.fields.get(name) ?? { path, byLiteral: new Map(), types: new Set(), all: [] };
    this.fields.set(name, field);
    field.all.push(place);
    field.types.add(typeof literal);
    const same = field.byLiteral.get(literal);
    if (same === undefined) field.byLiteral.set(literal, [place]);
    else same.push(place);
  }

  /** The places of the filters to ask, in their order. */
  candidates(event: { readonly id: string; readonly type: string; readonly data: Json }): number[] {
    const places = [...this.others];
    for (const field of this.fields.values()) for (const place of candidatesOf(field, event)) places.push(place);
    return places.sort((left, right) => left - right);
  }
}

function candidatesOf({ path, byLiteral, types, all }: Field, event: object): readonly number[] {
  const value = valueAt(path, event);
  if (typeof value !== 'number' && (typeof value !== 'string' || value.length > LONG_TEXT)) return all;
  // Whether a text equals a number is up to the language to say.
  return types.size > 1 || !types.has(typeof value) ? all : (byLiteral.get(value) ?? []);
}

/** Undefined: there is no such field of a plain object. */
function valueAt(path: readonly string[], event: object): unknown {
  let value: unknown = event;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    if (!Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** The comparison that a filter begins with, and without which it is false. */
function firstComparison({ expr, isPipeline }: IndexedFilter): Comparison | null {
  if (expr === null) return null;
  if (expr.op === 'pipeline') return firstComparison({ expr: expr.body, isPipeline });
  if (expr.op === 'and') return firstComparison({ expr: expr.items[0]!, isPipeline });
  if (expr.op !== 'binary' || (expr.operator !== '==' && expr.operator !== '===')) return null;
  const { left, right } = expr;
  if (right.op !== 'const' || (typeof right.value !== 'string' && typeof right.value !== 'number')) return null;
  const path = inEvent(pathOf(left), isPipeline);
  return path === null ? null : { path, literal: right.value };
}

/** `trigger` is the data of the event, or has the data as its body. */
function inEvent(path: readonly string[] | null, isPipeline: boolean): readonly string[] | null {
  const [root, ...rest] = path ?? [];
  if (root === 'event') return rest;
  if (root !== 'trigger') return null;
  if (!isPipeline) return ['data', ...rest];
  return rest[0] === 'body' ? ['data', ...rest.slice(1)] : null;
}

function pathOf(expr: Expr): string[] | null {
  if (expr.op === 'root') return [expr.name];
  if (expr.op !== 'member' || typeof expr.key !== 'string') return null;
  const before = pathOf(expr.object);
  return before === null ? null : [...before, expr.key];
}
