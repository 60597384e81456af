// Where a JSON pointer stands in a text, read from the editor's syntax tree: also in a text that is not finished.

import { syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';

/** A node of the tree; its type is not exported by the package that makes it. */
type SyntaxNode = NonNullable<ReturnType<typeof syntaxTree>['topNode']['firstChild']>;

export interface Place {
  /** Of the value. */
  readonly from: number;
  readonly to: number;
  /** Of the key that names it, quotes included. */
  readonly key?: { readonly from: number; readonly to: number };
}

export function placeOfPointer(state: EditorState, pointer: string): Place | null {
  const parts = pointer.split('/').slice(1).map(unescaped);
  let value = syntaxTree(state).topNode.firstChild;
  let key: Place['key'];
  for (const part of parts) {
    const next = value === null ? null : childOf(state, value, part);
    // The nearest existing place: a missing value is marked where it should be.
    if (next === null) break;
    value = next.value;
    key = next.key;
  }
  if (value === null) return null;
  return { from: value.from, to: value.to, ...(key === undefined ? {} : { key }) };
}

const unescaped = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

function childOf(
  state: EditorState,
  value: SyntaxNode,
  part: string,
): { value: SyntaxNode; key?: Place['key'] } | null {
  if (value.name === 'Array') {
    const items = childrenOf(value).filter(({ name }) => VALUES.has(name));
    const item = items[Number(part)];
    return item === undefined ? null : { value: item };
  }
  if (value.name !== 'Object') return null;
  for (const property of childrenOf(value)) {
    const name = property.getChild('PropertyName');
    if (property.name !== 'Property' || name === null || textOf(state, name) !== part) continue;
    const found = childrenOf(property).find((each) => VALUES.has(each.name));
    return { value: found ?? name, key: { from: name.from, to: name.to } };
  }
  return null;
}

const VALUES = new Set(['Object', 'Array', 'String', 'Number', 'True', 'False', 'Null']);

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const list: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) list.push(child);
  return list;
}

function textOf(state: EditorState, { from, to }: SyntaxNode): string {
  try {
    return JSON.parse(state.sliceDoc(from, to)) as string;
  } catch {
    return '';
  }
}
