// Completion in a definition: action types, node ids and, inside `{{ }}`, the data that an expression can read, from the last
// execution.

import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import { completeExpression, type ExpressionData, isExpressionKey } from '../model/completion.ts';

export interface CompletionNames {
  readonly actions: readonly { readonly id: string; readonly description: string }[];
  readonly nodes: readonly string[];
  readonly data: ExpressionData;
}

const NODE_KEYS = new Set(['targetNode', 'startNode', 'onFailure', 'needs', 'dependsOn', 'compensate', 'finally']);
const ACTION_KEYS = new Set(['actionType', 'type']);

export function completeIn(names: () => CompletionNames): (context: CompletionContext) => CompletionResult | null {
  return ({ state, pos, explicit }) => {
    const node = syntaxTree(state).resolveInner(pos, -1);
    if (node.name !== 'String') return null;
    const from = node.from + 1;
    const typed = state.sliceDoc(from, pos);
    const key = keyOf(state, node);
    const { actions, nodes, data } = names();
    if (ACTION_KEYS.has(key))
      return optionsAt(
        from,
        actions.map(({ id, description }) => option(id, description)),
      );
    if (NODE_KEYS.has(key))
      return optionsAt(
        from,
        nodes.map((id) => option(id)),
      );
    const expression = /\{\{((?:[^}]|\}(?!\}))*)$/.exec(typed)?.[1] ?? (isExpressionKey(key) ? typed : null);
    if (expression === null) return null;
    const found = completeExpression(expression, data);
    if (found === null || (found.options.length === 0 && !explicit)) return null;
    return optionsAt(
      pos - found.prefix.length,
      found.options.map(({ name, sample }) => option(name, sample)),
    );
  };
}

const option = (label: string, detail?: string): Completion =>
  detail === undefined ? { label } : { label, detail: detail.slice(0, 60) };

const optionsAt = (from: number, options: Completion[]): CompletionResult => ({ from, options, validFor: /^[\w.-]*$/ });

type SyntaxNode = ReturnType<ReturnType<typeof syntaxTree>['resolveInner']>;

/** The name of the property that the value stands in; of a list, the list's. */
function keyOf(state: EditorState, node: SyntaxNode): string {
  for (let up = node.parent; up !== null; up = up.parent) {
    if (up.name === 'Object') return '';
    if (up.name !== 'Property') continue;
    const name = up.getChild('PropertyName');
    return name === null ? '' : state.sliceDoc(name.from + 1, name.to - 1);
  }
  return '';
}
