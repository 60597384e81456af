// Calls: a function of the table, or a method of the table on a value. There is no other callee.

import type * as acorn from 'acorn';
import { nearMiss } from '../problem/near-miss.ts';
import { isZone } from '../time/iso-time.ts';
import { ARRAY_METHODS, CALLBACK_METHODS, SORT_METHODS } from './array-methods.ts';
import type { Expr } from './ast.ts';
import { type Conversion, isData, namespaceOf, refuse, writtenKey } from './conversion.ts';
import { FUNCTIONS, NUMBER_METHODS } from './functions.ts';
import { didYouMean } from './problem.ts';
import { FORBIDDEN_MEMBERS, REFUSED_CALLS } from './refusal.ts';
import { STRING_METHODS } from './string-methods.ts';

const METHODS: ReadonlySet<string> = new Set([
  ...STRING_METHODS.keys(),
  ...ARRAY_METHODS.keys(),
  ...CALLBACK_METHODS.keys(),
  ...SORT_METHODS,
  ...NUMBER_METHODS.keys(),
]);

/** May stand where an arrow function is expected: `items.filter(Boolean)`. */
const CALLBACK_FUNCTIONS: ReadonlySet<string> = new Set(['Boolean', 'Number', 'String']);

const MAX_PARAMETERS = 4;

export function convertCall(node: acorn.CallExpression, conversion: Conversion): Expr {
  const { callee } = node;
  if (node.optional)
    return refuse(conversion, node, {
      code: 'UNSUPPORTED',
      message: '`?.(` is not available',
      hint: 'write `?.` before the name of the method',
    });
  if (callee.type === 'Identifier') return convertFunction(callee.name, node, conversion);
  if (callee.type === 'MemberExpression') {
    const namespace = namespaceOf(conversion, callee.object);
    const name = writtenKey(callee);
    if (namespace !== undefined && name !== undefined) return convertFunction(`${namespace}.${name}`, node, conversion);
    return convertMethod(callee, node, conversion);
  }
  convertAll([callee, ...node.arguments], conversion);
  return refuse(conversion, callee, {
    code: 'UNSUPPORTED',
    message: 'Only functions and methods can be called, by their names',
  });
}

function convertAll(nodes: readonly acorn.AnyNode[], conversion: Conversion): Expr[] {
  return nodes.map((node) => conversion.convert(node));
}

function convertFunction(name: string, node: acorn.CallExpression, conversion: Conversion): Expr {
  const args = convertAll(node.arguments, conversion);
  if (isData(conversion, name))
    return refuse(conversion, node.callee, {
      code: 'UNKNOWN_FUNCTION',
      message: `\`${name}\` is data, not a function`,
    });
  if (name === 'formatTime') checkZone(node.arguments[2], args[2], conversion);
  if (FUNCTIONS.has(name)) return { op: 'function', name, args };
  const hint = REFUSED_CALLS.get(name) ?? didYouMean(nearMiss(name, FUNCTIONS.keys()));
  return refuse(conversion, node.callee, {
    code: 'UNKNOWN_FUNCTION',
    message: `There is no function \`${name}\``,
    hint,
  });
}

/** A literal zone is checked now, any other when the expression is evaluated. */
function checkZone(node: acorn.AnyNode | undefined, zone: Expr | undefined, conversion: Conversion): void {
  if (node === undefined || zone?.op !== 'const' || (typeof zone.value === 'string' && isZone(zone.value))) return;
  conversion.report(node, {
    code: 'BAD_ZONE',
    message: `\`formatTime\` takes a fixed offset as its zone, not ${JSON.stringify(zone.value)}`,
    hint: 'write "Z" or an offset such as "+02:00": what the name of a zone means depends on the machine and its tables, so let an action convert the time',
  });
}

function convertMethod(callee: acorn.MemberExpression, node: acorn.CallExpression, conversion: Conversion): Expr {
  const object = conversion.convert(callee.object);
  const name = writtenKey(callee);
  if (typeof name !== 'string') {
    return refuse(conversion, callee, { code: 'UNSUPPORTED', message: 'The name of a method must be written out' });
  }
  const args = convertArguments(name, node, conversion);
  if (!METHODS.has(name)) return refuse(conversion, callee.property, unknownMethod(name));
  return { op: 'method', object, name, args, ...(callee.optional ? { optional: true } : {}) };
}

function unknownMethod(name: string) {
  if (FORBIDDEN_MEMBERS.has(name)) return { code: 'FORBIDDEN_MEMBER', message: `\`${name}\` cannot be used` } as const;
  const hint = REFUSED_CALLS.get(name) ?? didYouMean(nearMiss(name, METHODS));
  return { code: 'UNKNOWN_METHOD', message: `There is no method \`${name}\``, hint } as const;
}

function convertArguments(name: string, node: acorn.CallExpression, conversion: Conversion): Expr[] {
  if (!METHODS.has(name)) return node.arguments.map((argument) => convertLoosely(argument, conversion));
  const [first, ...others] = node.arguments;
  const takesCallback = CALLBACK_METHODS.has(name) || (SORT_METHODS.has(name) && first !== undefined);
  if (!takesCallback) return convertAll(node.arguments, conversion);
  return [convertCallback(name, first, node, conversion), ...convertAll(others, conversion)];
}

/** For a method that does not exist: a function passed to it is not a second mistake. */
function convertLoosely(argument: acorn.AnyNode, conversion: Conversion): Expr {
  return argument.type === 'ArrowFunctionExpression'
    ? convertArrow(argument, conversion)
    : conversion.convert(argument);
}

function convertCallback(
  name: string,
  callback: acorn.AnyNode | undefined,
  node: acorn.CallExpression,
  conversion: Conversion,
): Expr {
  if (callback?.type === 'ArrowFunctionExpression') return convertArrow(callback, conversion);
  if (callback?.type === 'Identifier' && CALLBACK_FUNCTIONS.has(callback.name) && !isData(conversion, callback.name)) {
    const slot = conversion.locals.length;
    return {
      op: 'arrow',
      slot,
      params: 1,
      body: { op: 'function', name: callback.name, args: [{ op: 'local', slot }] },
    };
  }
  return refuse(conversion, callback ?? node, {
    code: 'BAD_CALLBACK',
    message: `\`${name}\` needs an arrow function`,
    hint: `e.g. \`${name}(item => item.name)\``,
  });
}

function convertArrow(arrow: acorn.ArrowFunctionExpression, conversion: Conversion): Expr {
  const names = arrow.params.map((parameter) => parameterName(parameter, conversion));
  if (arrow.async)
    conversion.report(arrow, { code: 'BAD_CALLBACK', message: 'An arrow function cannot be `async` here' });
  if (names.length > MAX_PARAMETERS)
    conversion.report(arrow, { code: 'BAD_CALLBACK', message: 'An arrow function has at most four parameters' });
  if (arrow.body.type === 'BlockStatement') {
    return refuse(conversion, arrow.body, {
      code: 'BAD_CALLBACK',
      message: 'The body of an arrow function must be an expression',
      hint: 'leave out the braces and `return`; for an object write `({ … })`',
    });
  }
  const slot = conversion.locals.length;
  conversion.locals.push(...names);
  const body = conversion.convert(arrow.body);
  conversion.locals.length = slot;
  return { op: 'arrow', slot, params: names.length, body };
}

function parameterName(parameter: acorn.Pattern, conversion: Conversion): string {
  if (parameter.type === 'Identifier') return parameter.name;
  conversion.report(parameter, {
    code: 'BAD_CALLBACK',
    message: 'A parameter must be a plain name',
    hint: 'e.g. `entry => entry[0]` instead of `([key]) => key`',
  });
  return '';
}
