// Visits every node of a syntax tree, parents first. Nothing here knows a rule.

import type { AnyNode, Identifier } from 'acorn';

export type Visit = (node: AnyNode, parent: AnyNode | undefined) => void;

export function walk(root: AnyNode, visit: Visit): void {
  const step = (node: AnyNode, parent: AnyNode | undefined): void => {
    visit(node, parent);
    for (const value of Object.values(node) as unknown[]) {
      for (const child of Array.isArray(value) ? (value as unknown[]) : [value]) {
        if (isNode(child)) step(child, node);
      }
    }
  };
  step(root, undefined);
}

/** Whether an identifier stands for a variable, and not for a member, a key or a label of that name. */
export function isReference(node: Identifier, parent: AnyNode | undefined): boolean {
  switch (parent?.type) {
    case 'MemberExpression':
      return parent.computed || parent.property !== node;
    case 'Property':
    case 'MethodDefinition':
    case 'PropertyDefinition':
      return parent.computed || parent.key !== node;
    case 'ImportSpecifier':
    case 'ExportSpecifier':
    case 'LabeledStatement':
    case 'MetaProperty':
      return false;
    default:
      return true;
  }
}

/** `Date.now` for the expression Date.now (also written Date['now']); undefined for anything less plain. */
export function memberName(node: AnyNode): string | undefined {
  if (node.type !== 'MemberExpression' || node.object.type !== 'Identifier') return undefined;
  const { property } = node;
  if (!node.computed) return property.type === 'Identifier' ? `${node.object.name}.${property.name}` : undefined;
  return property.type === 'Literal' ? `${node.object.name}.${String(property.value)}` : undefined;
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
