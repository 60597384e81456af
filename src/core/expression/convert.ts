// Converts the parser's tree to ours by an allow-list. A node type without a converter is refused, and so is every name, method
// and function that is not in a table (S3). Conversion goes on after a problem, so the author sees all problems at once.

import type * as acorn from 'acorn';
import { nearMiss } from '../problem/near-miss.ts';
import { BINARY_OPERATORS, type BinaryOperator, type Expr, UNARY_OPERATORS, type UnaryOperator } from './ast.ts';
import { type Conversion, NAMESPACES, namespaceOf, REFUSED, refuse, writtenKey } from './conversion.ts';
import { convertCall } from './convert-call.ts';
import { CONSTANTS, FUNCTIONS } from './functions.ts';
import { didYouMean, type Finding } from './problem.ts';
import { FORBIDDEN_MEMBERS, REFUSED_CALLS, REFUSED_NODES, REFUSED_OPERATORS } from './refusal.ts';

/** Equal to the default limit of evaluation, so an accepted expression can run. */
export const MAX_NESTING = 100;

export const NESTED_TOO_DEEP: Finding = {
  code: 'TOO_DEEP',
  message: `The expression is nested deeper than ${MAX_NESTING} levels`,
};

export function convertExpression(node: acorn.AnyNode, given: Omit<Conversion, 'convert' | 'locals'>): Expr {
  let depth = 0;
  let reported = false;
  const convertNested = (inner: acorn.AnyNode): Expr => {
    if (depth === MAX_NESTING) {
      if (!reported) given.report(inner, NESTED_TOO_DEEP);
      reported = true;
      return REFUSED;
    }
    depth++;
    const expr = convertNode(inner, conversion);
    depth--;
    return expr;
  };
  const conversion: Conversion = { ...given, locals: [], convert: convertNested };
  return convertNested(node);
}

function convertNode(node: acorn.AnyNode, conversion: Conversion): Expr {
  switch (node.type) {
    case 'Literal':
      return convertLiteral(node, conversion);
    case 'Identifier':
      return convertName(node, conversion);
    case 'ParenthesizedExpression':
      return conversion.convert(node.expression);
    case 'MemberExpression':
      return convertMember(node, conversion);
    case 'ChainExpression':
      return { op: 'chain', body: conversion.convert(node.expression) };
    case 'CallExpression':
      return convertCall(node, conversion);
    case 'ArrayExpression':
      return { op: 'array', items: node.elements.map((element) => convertElement(element, node, conversion)) };
    case 'ObjectExpression':
      return { op: 'object', items: node.properties.map((property) => convertProperty(property, conversion)) };
    case 'SpreadElement':
      return { op: 'spread', value: conversion.convert(node.argument) };
    case 'TemplateLiteral':
      return { op: 'text', parts: convertTemplateParts(node, conversion) };
    case 'UnaryExpression':
      return convertUnary(node, conversion);
    case 'BinaryExpression':
      return convertBinary(node, conversion);
    case 'LogicalExpression':
      return convertLogical(node, conversion);
    case 'ConditionalExpression': {
      const [test, then, otherwise] = [node.test, node.consequent, node.alternate].map(conversion.convert) as [
        Expr,
        Expr,
        Expr,
      ];
      return { op: 'conditional', test, then, otherwise };
    }
    case 'AssignmentExpression':
      return refuseAssignment(node, conversion);
    default:
      return refuse(conversion, node, {
        code: 'UNSUPPORTED',
        message: 'This is not available',
        ...REFUSED_NODES.get(node.type),
      });
  }
}

function convertLiteral(node: acorn.Literal, conversion: Conversion): Expr {
  if (node.regex) {
    const hint = 'use `includes`, `startsWith`, `endsWith` or `split`';
    return refuse(conversion, node, { code: 'UNSUPPORTED', message: 'Regular expressions are not available', hint });
  }
  if (node.bigint !== undefined) {
    return refuse(conversion, node, {
      code: 'UNSUPPORTED',
      message: 'BigInt is not available',
      hint: 'leave out the `n`',
    });
  }
  const value = node.value as string | number | boolean | null;
  if (value === Number.POSITIVE_INFINITY) {
    return refuse(conversion, node, { code: 'UNSUPPORTED', message: 'The number is too large' });
  }
  return { op: 'const', value };
}

function convertName(node: acorn.Identifier, conversion: Conversion): Expr {
  const { name } = node;
  const slot = conversion.locals.lastIndexOf(name);
  if (slot !== -1) return { op: 'local', slot };
  if (conversion.roots.includes(name)) return { op: 'root', name, ...conversion.span(node) };
  if (name === 'undefined' || name === 'NaN' || name === 'Infinity') return { op: 'special', name };
  if (NAMESPACES.has(name) || FUNCTIONS.has(name)) {
    return refuse(conversion, node, { code: 'UNSUPPORTED', message: `\`${name}\` cannot be used as a value` });
  }
  const hint =
    REFUSED_CALLS.get(name) ??
    didYouMean(nearMiss(name, [...conversion.locals, ...conversion.roots, ...FUNCTIONS.keys()]));
  return refuse(conversion, node, {
    code: 'UNKNOWN_NAME',
    message: `There is no \`${name}\` here`,
    hint: hint ?? `names that exist: ${conversion.roots.join(', ')}`,
  });
}

function convertMember(node: acorn.MemberExpression, conversion: Conversion): Expr {
  const key = writtenKey(node);
  const namespace = namespaceOf(conversion, node.object);
  if (namespace !== undefined) return convertConstant(`${namespace}.${key}`, node, conversion);
  const object = conversion.convert(node.object);
  const rest = { ...(node.optional ? { optional: true as const } : {}), ...conversion.span(node) };
  if (key === undefined) return { op: 'index', object, index: conversion.convert(node.property), ...rest };
  if (FORBIDDEN_MEMBERS.has(String(key))) {
    return refuse(conversion, node.property, { code: 'FORBIDDEN_MEMBER', message: `\`${key}\` cannot be read` });
  }
  return { op: 'member', object, key, ...rest };
}

function convertConstant(name: string, node: acorn.MemberExpression, conversion: Conversion): Expr {
  const value = CONSTANTS.get(name);
  if (value !== undefined) return { op: 'const', value };
  const hint = didYouMean(nearMiss(name, CONSTANTS.keys()));
  return refuse(conversion, node, { code: 'UNKNOWN_NAME', message: `There is no constant \`${name}\``, hint });
}

function convertElement(element: acorn.AnyNode | null, array: acorn.ArrayExpression, conversion: Conversion): Expr {
  if (element) return conversion.convert(element);
  return refuse(conversion, array, {
    code: 'UNSUPPORTED',
    message: 'An array cannot have holes',
    hint: 'write `null`',
  });
}

function convertProperty(node: acorn.Property | acorn.SpreadElement, conversion: Conversion): Expr {
  if (node.type === 'SpreadElement') return conversion.convert(node);
  if (node.kind !== 'init' || node.method) {
    return refuse(conversion, node, {
      code: 'UNSUPPORTED',
      message: 'An object cannot have methods, getters or setters',
    });
  }
  const key: Expr = node.computed ? conversion.convert(node.key) : { op: 'const', value: propertyName(node.key) };
  if (key.op === 'const' && key.value === '__proto__') {
    return refuse(conversion, node.key, { code: 'FORBIDDEN_MEMBER', message: '`__proto__` cannot be a key' });
  }
  return { op: 'property', key, value: conversion.convert(node.value) };
}

function propertyName(key: acorn.Expression): string {
  return key.type === 'Identifier' ? key.name : String((key as acorn.Literal).value);
}

function convertTemplateParts(node: acorn.TemplateLiteral, conversion: Conversion): Expr[] {
  const texts = node.quasis.map((quasi): Expr => ({ op: 'const', value: quasi.value.cooked as string }));
  const values = node.expressions.map(conversion.convert);
  const parts = texts.flatMap((text, index) => (index < values.length ? [text, values[index]!] : [text]));
  return parts.filter((part) => part.op !== 'const' || part.value !== '');
}

function convertUnary(node: acorn.UnaryExpression, conversion: Conversion): Expr {
  const value = conversion.convert(node.argument);
  if (isOneOf(UNARY_OPERATORS, node.operator)) return { op: 'unary', operator: node.operator as UnaryOperator, value };
  return refuseOperator(node, conversion);
}

function convertBinary(node: acorn.BinaryExpression, conversion: Conversion): Expr {
  if (node.operator === '+') return { op: 'sum', items: flattened(node, 'BinaryExpression').map(conversion.convert) };
  const left = conversion.convert(node.left);
  const right = conversion.convert(node.right);
  if (isOneOf(BINARY_OPERATORS, node.operator))
    return { op: 'binary', operator: node.operator as BinaryOperator, left, right };
  return refuseOperator(node, conversion);
}

function convertLogical(node: acorn.LogicalExpression, conversion: Conversion): Expr {
  if (node.operator === '??')
    return { op: 'nullish', left: conversion.convert(node.left), right: conversion.convert(node.right) };
  return {
    op: node.operator === '&&' ? 'and' : 'or',
    items: flattened(node, 'LogicalExpression').map(conversion.convert),
  };
}

/** Turns `a + b + c` into three operands instead of a left-leaning tree. */
function flattened(
  node: acorn.BinaryExpression | acorn.LogicalExpression,
  type: 'BinaryExpression' | 'LogicalExpression',
): acorn.AnyNode[] {
  const operands: acorn.AnyNode[] = [];
  let left: acorn.AnyNode = node;
  while (left.type === type && left.operator === node.operator) {
    operands.unshift(left.right);
    left = left.left;
  }
  return [left, ...operands];
}

function isOneOf(names: readonly string[], name: string): boolean {
  return names.includes(name);
}

function refuseOperator(node: acorn.UnaryExpression | acorn.BinaryExpression, conversion: Conversion): Expr {
  const hint = REFUSED_OPERATORS.get(node.operator);
  return refuse(conversion, node, { code: 'UNSUPPORTED', message: `\`${node.operator}\` is not available`, hint });
}

function refuseAssignment(node: acorn.AssignmentExpression, conversion: Conversion): Expr {
  conversion.convert(node.right);
  const hint = node.operator === '=' ? 'did you mean `===`?' : undefined;
  return refuse(conversion, node, { code: 'UNSUPPORTED', message: `\`${node.operator}\` would change data`, hint });
}
