// Compiles an expression into a tree of closures, once, so running it does not dispatch on node types. The cache is keyed by the
// Expr and holds it weakly. Where JavaScript throws because a member of null or undefined is read, two places read `undefined`
// instead: the left side of `??`, and everything in the pipeline dialect, whose conditions see null for a missing value.

import { ARRAY_METHODS, CALLBACK_METHODS, type Callback, SORT_METHODS, sorted } from './array-methods.ts';
import { type Expr, heightOf, sizeOf } from './ast.ts';
import { toKey, toText } from './coercion.ts';
import {
  BYTES_PER_PROPERTY,
  type Evaluation,
  EvaluationError,
  MissingValueError,
  STEPS_PER_PROPERTY,
} from './evaluation.ts';
import { CONVERTING, FUNCTIONS, NUMBER_METHODS } from './functions.ts';
import { readMember, writeMember } from './member.ts';
import { ARITHMETIC, add, BINARY, KNOWN_ORDER, UNARY } from './operators.ts';
import { STRING_METHODS } from './string-methods.ts';

type Program = (evaluation: Evaluation) => unknown;

export interface CompiledExpression {
  readonly run: Program;
  /** The number of nodes, which is the number of steps of one pass. */
  readonly size: number;
  readonly height: number;
}

/** How a member of null or undefined is read. */
type Reading = 'strict' | 'nullSafe' | 'pipeline';

/** Passed from a `?.` that found nothing to the end of its chain. Data never contains a symbol. */
const STOPPED = Symbol('stopped');

const cache = new WeakMap<Expr, CompiledExpression>();

export function compiled(expr: Expr): CompiledExpression {
  const known = cache.get(expr);
  if (known) return known;
  const made = { run: compile(expr, 'strict'), size: sizeOf(expr), height: heightOf(expr) };
  cache.set(expr, made);
  return made;
}

/** Parts that are compiled by the node around them. */
type Part = 'arrow' | 'property' | 'spread';
type Compilers = {
  readonly [Op in Exclude<Expr['op'], Part>]: (expr: Extract<Expr, { op: Op }>, reading: Reading) => Program;
};

const COMPILERS: Compilers = {
  const: ({ value }) => constant(value),
  special: ({ name }) => constant(name === 'undefined' ? undefined : Number(name)),
  root: ({ name }, reading) => settled((evaluation) => readMember(evaluation.scope, name), reading),
  local:
    ({ slot }) =>
    (evaluation) =>
      evaluation.locals[slot],
  member: compileMember,
  index: compileIndex,
  method: compileMethod,
  chain: compileChain,
  function: compileFunction,
  array: ({ items }, reading) => compileItems(items, reading),
  object: compileObject,
  text: compileText,
  unary: compileUnary,
  binary: compileBinary,
  sum: compileSum,
  and: ({ items }, reading) => compileLogical(items, reading, (value) => !value),
  or: ({ items }, reading) => compileLogical(items, reading, Boolean),
  nullish: compileNullish,
  conditional: compileConditional,
  pipeline: ({ body }) => compile(body, 'pipeline'),
};

function compile(expr: Expr, reading: Reading): Program {
  const compiler = COMPILERS[expr.op as Exclude<Expr['op'], Part>] as (expr: Expr, reading: Reading) => Program;
  return compiler(expr, reading);
}

function constant(value: unknown): Program {
  return () => value;
}

/** A path of the pipeline dialect that leads nowhere is null in a condition. */
function settled(program: Program, reading: Reading): Program {
  if (reading !== 'pipeline') return program;
  return (evaluation) => {
    const value = program(evaluation);
    return value === undefined && evaluation.purpose === 'condition' ? null : value;
  };
}

type Access = Extract<Expr, { op: 'member' | 'index' | 'method' }>;

/** The result of reading `name` of null, of undefined, or after a stopped `?.`. */
function readNothing(object: unknown, { optional }: Access, reading: Reading, name: string | number): unknown {
  if (reading !== 'strict') return undefined;
  if (optional || object === STOPPED) return STOPPED;
  throw new MissingValueError(`Cannot read \`${name}\` of ${object}`);
}

function isNothing(object: unknown): boolean {
  return object == null || object === STOPPED;
}

/**
 * In the pipeline dialect a text body has no fields, neither a length nor a first character. The author meant an item of a
 * list, and the body was cut off or was never JSON.
 */
function compileOwner({ object }: Access, reading: Reading): Program {
  const owner = compile(object, reading);
  if (reading !== 'pipeline' || !isBody(object)) return owner;
  return (evaluation) => {
    const value = owner(evaluation);
    return typeof value === 'string' ? undefined : value;
  };
}

/** `trigger.body`, `tasks.<name>.body`. */
function isBody(expr: Expr): boolean {
  if (expr.op !== 'member' || expr.key !== 'body') return false;
  const of = expr.object;
  if (of.op === 'root') return of.name === 'trigger';
  return (of.op === 'member' || of.op === 'index') && of.object.op === 'root' && of.object.name === 'tasks';
}

function compileMember(expr: Extract<Expr, { op: 'member' }>, reading: Reading): Program {
  const object = compileOwner(expr, reading);
  const key = expr.key;
  const read: Program = (evaluation) => {
    const value = object(evaluation);
    return isNothing(value) ? readNothing(value, expr, reading, key) : readMember(value, key);
  };
  return settled(read, reading);
}

function compileIndex(expr: Extract<Expr, { op: 'index' }>, reading: Reading): Program {
  const object = compileOwner(expr, reading);
  const index = compile(expr.index, reading);
  const read: Program = (evaluation) => {
    const value = object(evaluation);
    if (isNothing(value)) return readNothing(value, expr, reading, '[…]');
    return readMember(value, toKey(evaluation, index(evaluation)));
  };
  return settled(read, reading);
}

function compileMethod(expr: Extract<Expr, { op: 'method' }>, reading: Reading): Program {
  const object = compile(expr.object, reading);
  const call = compileCall(expr, reading);
  const run: Program = (evaluation) => {
    const target = object(evaluation);
    return isNothing(target) ? readNothing(target, expr, reading, expr.name) : call(evaluation, target);
  };
  return settled(run, reading);
}

type Call = (evaluation: Evaluation, target: unknown) => unknown;

function compileCall(expr: Extract<Expr, { op: 'method' }>, reading: Reading): Call {
  const name = expr.name;
  const [first, ...others] = expr.args;
  const withCallback = CALLBACK_METHODS.get(name);
  if (withCallback && first?.op === 'arrow') {
    const callback = compileArrow(first, reading);
    const rest = compileItems(others, reading);
    return (evaluation, target) => {
      if (!Array.isArray(target)) throw notAMethod(name, target);
      return withCallback(evaluation, target, callback(evaluation), rest(evaluation));
    };
  }
  if (SORT_METHODS.has(name)) {
    const callback = first?.op === 'arrow' ? compileArrow(first, reading) : () => undefined;
    return (evaluation, target) => {
      if (!Array.isArray(target)) throw notAMethod(name, target);
      return sorted(evaluation, target, callback(evaluation));
    };
  }
  return compilePlainCall(expr, reading);
}

function compilePlainCall({ name, args }: Extract<Expr, { op: 'method' }>, reading: Reading): Call {
  const values = compileItems(args, reading);
  const given = compileNeeded(values, reading);
  const ofText = STRING_METHODS.get(name);
  const ofList = ARRAY_METHODS.get(name);
  const ofNumber = NUMBER_METHODS.get(name);
  return (evaluation, target) => {
    if (ofText && typeof target === 'string') return ofText(evaluation, target, given(evaluation));
    if (ofList && Array.isArray(target)) return ofList(evaluation, target, values(evaluation));
    if (ofNumber && typeof target === 'number') return ofNumber(evaluation, target, values(evaluation));
    throw notAMethod(name, target);
  };
}

function notAMethod(name: string, target: unknown): EvaluationError {
  const kind = Array.isArray(target) ? 'an array' : typeof target === 'object' ? 'an object' : `a ${typeof target}`;
  return new EvaluationError(`\`${name}\` is not a method of ${kind}`);
}

function compileArrow(arrow: Extract<Expr, { op: 'arrow' }>, reading: Reading): (evaluation: Evaluation) => Callback {
  const body = compile(arrow.body, reading);
  const size = sizeOf(arrow);
  const { slot, params } = arrow;
  return (evaluation) => (first, second, third, fourth) => {
    evaluation.step(size);
    const locals = evaluation.locals;
    locals[slot] = first;
    if (params > 1) locals[slot + 1] = second;
    if (params > 2) locals[slot + 2] = third;
    if (params > 3) locals[slot + 3] = fourth;
    return body(evaluation);
  };
}

function compileChain({ body }: Extract<Expr, { op: 'chain' }>, reading: Reading): Program {
  const chain = compile(body, reading);
  return (evaluation) => {
    const value = chain(evaluation);
    return value === STOPPED ? undefined : value;
  };
}

function compileFunction({ name, args }: Extract<Expr, { op: 'function' }>, reading: Reading): Program {
  const known = FUNCTIONS.get(name)!;
  const items = compileItems(args, reading);
  const values = CONVERTING.has(name) ? compileNeeded(items, reading) : items;
  return (evaluation) => known(evaluation, values(evaluation));
}

/**
 * Operands and arguments that become part of a text or a number. In a pipeline's template they must exist, because a missing
 * value would be sent as "null", "undefined" or NaN.
 */
function compileNeeded<Values extends readonly unknown[]>(
  values: (evaluation: Evaluation) => Values,
  reading: Reading,
): (evaluation: Evaluation) => Values {
  if (reading !== 'pipeline') return values;
  return (evaluation) => {
    const given = values(evaluation);
    if (evaluation.purpose === 'template') given.forEach(refuseNothing);
    return given;
  };
}

/** A part of a text or of a sum. */
function compilePart(expr: Expr, reading: Reading): Program {
  const part = compile(expr, reading);
  const refuse = reading === 'pipeline' ? refuseNothing : refuseUndefined;
  return (evaluation) => {
    const value = part(evaluation);
    if (evaluation.purpose === 'template') refuse(value);
    return value;
  };
}

/** An operand of arithmetic. JavaScript turns a missing operand into NaN, which no template may contain. */
function compileOperand(expr: Expr, reading: Reading): Program {
  return reading === 'pipeline' ? compilePart(expr, reading) : compile(expr, reading);
}

/** Keeps the word "undefined" out of messages. */
function refuseUndefined(value: unknown): void {
  if (value === undefined) throw new MissingValueError('A part of it is undefined');
}

function refuseNothing(value: unknown): void {
  refuseUndefined(value);
  if (value === null) throw new EvaluationError('a part of it is null; give a default with `??`');
}

/** The elements of an array literal, or the arguments of a call. */
function compileItems(items: readonly Expr[], reading: Reading): (evaluation: Evaluation) => unknown[] {
  const parts = items.map((item) => ({
    spread: item.op === 'spread',
    value: compile(item.op === 'spread' ? item.value : item, reading),
  }));
  return (evaluation) => {
    evaluation.buildList(parts.length);
    const out: unknown[] = [];
    for (const { spread, value } of parts) {
      if (spread) spreadInto(evaluation, out, value(evaluation));
      else out.push(value(evaluation));
    }
    return out;
  };
}

function spreadInto(evaluation: Evaluation, out: unknown[], value: unknown): void {
  if (!Array.isArray(value) && typeof value !== 'string')
    throw new EvaluationError('Only arrays and texts can be spread here');
  evaluation.buildList(value.length);
  for (const item of value) out.push(item);
}

function compileObject({ items }: Extract<Expr, { op: 'object' }>, reading: Reading): Program {
  const parts = items.map((item) => compileProperty(item, reading));
  return (evaluation) => {
    evaluation.buildList(parts.length);
    const out: Record<string, unknown> = {};
    for (const part of parts) part(evaluation, out);
    return out;
  };
}

type PropertyWriter = (evaluation: Evaluation, out: Record<string, unknown>) => void;

function compileProperty(item: Expr, reading: Reading): PropertyWriter {
  if (item.op === 'property') {
    const key = compile(item.key, reading);
    const value = compile(item.value, reading);
    return (evaluation, out) => {
      const name = toText(evaluation, key(evaluation));
      evaluation.build(name.length + BYTES_PER_PROPERTY);
      writeMember(out, name, value(evaluation));
    };
  }
  const source = compile((item as Extract<Expr, { op: 'spread' }>).value, reading);
  return (evaluation, out) => {
    for (const [name, value] of Object.entries(Object(source(evaluation)))) {
      evaluation.step(STEPS_PER_PROPERTY);
      evaluation.build(name.length + BYTES_PER_PROPERTY);
      writeMember(out, name, value);
    }
  };
}

function compileText({ parts }: Extract<Expr, { op: 'text' }>, reading: Reading): Program {
  const programs = parts.map((part) => compilePart(part, reading));
  return (evaluation) => {
    let text = '';
    for (const program of programs) {
      const part = toText(evaluation, program(evaluation));
      evaluation.build(part.length);
      text += part;
    }
    return text;
  };
}

function compileUnary({ operator, value }: Extract<Expr, { op: 'unary' }>, reading: Reading): Program {
  const compute = UNARY[operator];
  const operand = ARITHMETIC.has(operator) ? compileOperand(value, reading) : compile(value, reading);
  return (evaluation) => compute(evaluation, operand(evaluation));
}

function compileBinary({ operator, left, right }: Extract<Expr, { op: 'binary' }>, reading: Reading): Program {
  const compute = reading === 'pipeline' ? (KNOWN_ORDER[operator] ?? BINARY[operator]) : BINARY[operator];
  const operand = ARITHMETIC.has(operator) ? compileOperand : compile;
  const leftOperand = operand(left, reading);
  const rightOperand = operand(right, reading);
  return (evaluation) => compute(evaluation, leftOperand(evaluation), rightOperand(evaluation));
}

function compileSum({ items }: Extract<Expr, { op: 'sum' }>, reading: Reading): Program {
  const [first, ...others] = items.map((item) => compilePart(item, reading)) as [Program, ...Program[]];
  return (evaluation) => {
    let sum = first(evaluation);
    let partial = false;
    for (const other of others) {
      sum = add(evaluation, sum, other(evaluation), partial);
      partial = true;
    }
    return sum;
  };
}

function compileLogical(items: readonly Expr[], reading: Reading, decides: (value: unknown) => boolean): Program {
  const [first, ...others] = items.map((item) => compile(item, reading)) as [Program, ...Program[]];
  return (evaluation) => {
    let value = first(evaluation);
    for (const other of others) {
      if (decides(value)) return value;
      value = other(evaluation);
    }
    return value;
  };
}

function compileNullish({ left, right }: Extract<Expr, { op: 'nullish' }>, reading: Reading): Program {
  const preferred = compile(left, reading === 'strict' ? 'nullSafe' : reading);
  const fallback = compile(right, reading);
  return (evaluation) => preferred(evaluation) ?? fallback(evaluation);
}

function compileConditional(
  { test, then, otherwise }: Extract<Expr, { op: 'conditional' }>,
  reading: Reading,
): Program {
  const decide = compile(test, reading);
  const whenTrue = compile(then, reading);
  const whenFalse = compile(otherwise, reading);
  return (evaluation) => (decide(evaluation) ? whenTrue(evaluation) : whenFalse(evaluation));
}
