// References to values of a running workflow. In TypeScript a reference has the type of its value; in the definition it is a
// path. Inside a string or as a value it becomes `{{ path }}`, inside `expr` the bare path.

/** A reference to a future `T`. Its properties are references too. */
export type Ref<T> = Marked<T> &
  (NonNullable<T> extends readonly (infer Item)[]
    ? { readonly [index: number]: Ref<Item>; readonly length: Ref<number> }
    : NonNullable<T> extends object
      ? { readonly [Key in keyof NonNullable<T>]-?: Ref<NonNullable<T>[Key]> }
      : unknown);

declare const marker: unique symbol;

/** Empty at first: other types are added to it. */
export type Empty = object;

/** A list, or a reference to one. */
export type ListRef<Item> = Marked<readonly Item[]> | readonly Item[] | string;

/** The result of a forEach. */
export interface LoopResult<Outputs> {
  count: number;
  succeeded: number;
  failed: number;
  /** In the order of the items; null for a failed item. */
  results: (Outputs | null)[];
  errors: { index: number; code: string; message: string }[];
}

/** The result of a wait: `by` is `callback`, `timeout` or the type of the event. */
export interface WaitResult<Payload> {
  by: string;
  data: Payload;
  /** With `count` or `until`. */
  events: { by: string; data: Payload }[];
}

interface Marked<T> {
  readonly [marker]: T;
}

/** Any JSON, with references in place of values. */
export type Input =
  | string
  | number
  | boolean
  | null
  | Marked<unknown>
  | readonly Input[]
  | { readonly [key: string]: Input };

const PATH = Symbol('path');
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

export function refTo<T>(path: string): Ref<T> {
  const bare = path.replace(/\?$/, '');
  const asTemplate = () => `{{ ${bare} }}`;
  const target = Object.create(null) as object;
  return new Proxy(target, {
    get(_target, key) {
      if (key === PATH) return bare;
      if (key === Symbol.toPrimitive || key === 'toString' || key === 'toJSON') return asTemplate;
      return typeof key === 'symbol' ? undefined : refTo(member(path, key));
    },
  }) as Ref<T>;
}

/** `a.b`, or `a["b-c"]` where the name is not an identifier. A path that ends in `?` may be missing: `a?.b`, `a?.["b-c"]`. */
export function member(path: string, key: string): string {
  if (IDENTIFIER.test(key)) return `${path}.${key}`;
  const dot = path.endsWith('?') ? '.' : '';
  return /^\d+$/.test(key) ? `${path}${dot}[${key}]` : `${path}${dot}[${JSON.stringify(key)}]`;
}

/** An expression of references and literals: expr`${data.charge.amount} > ${100}`. */
export function expr(texts: TemplateStringsArray, ...values: readonly unknown[]): string {
  return texts.reduce((text, next, index) => `${text}${termOf(values[index - 1])}${next}`);
}

/** The same as a template: value`${previous.next} ?? ''`. */
export function value(texts: TemplateStringsArray, ...values: readonly unknown[]): string {
  return `{{ ${expr(texts, ...values)} }}`;
}

function termOf(value: unknown): string {
  const path = typeof value === 'object' && value !== null ? (value as { [PATH]?: string })[PATH] : undefined;
  return path ?? JSON.stringify(value);
}

/** The definition as it is sent, with every reference as a template. */
export const plain = <Value>(value: Value): unknown => JSON.parse(JSON.stringify(value)) as unknown;

declare const shapeOf: unique symbol;

/** Stands for a type where TypeScript needs a value to infer one from. */
export interface Shape<T> {
  readonly [shapeOf]?: T;
}

/** The type of the outputs of an action or a call: `outputs: shape<{ amount: number }>()`. It is not checked at run time. */
export const shape = <T>(): Shape<T> => ({});
