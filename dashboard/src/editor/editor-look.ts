// How text looks in the editor: the dashboard's own colours, in both themes.

import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const look = EditorView.theme({
  '&': { height: '100%', fontSize: '12.5px', backgroundColor: 'transparent', color: 'var(--color-text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.6' },
  '.cm-content': { caretColor: 'var(--color-accent)' },
  '.cm-cursor': { borderLeftColor: 'var(--color-accent)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--color-faint)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--color-hover) 60%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--color-text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--color-accent-soft)',
  },
  '.cm-panels': {
    backgroundColor: 'var(--color-raised)',
    color: 'var(--color-text)',
    borderColor: 'var(--color-line)',
  },
  '.cm-textfield, .cm-button': {
    backgroundColor: 'var(--color-panel)',
    backgroundImage: 'none',
    border: '1px solid var(--color-line)',
    borderRadius: '6px',
    color: 'var(--color-text)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--color-raised)',
    border: '1px solid var(--color-line)',
    borderRadius: '8px',
    boxShadow: 'var(--shadow-float)',
    color: 'var(--color-text)',
    maxWidth: '32rem',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--color-accent-soft)',
    color: 'var(--color-text)',
  },
  '.cm-diagnostic': { padding: '6px 10px', whiteSpace: 'pre-wrap' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--color-bad-solid)' },
  '.cm-diagnostic-warning': { borderLeft: '3px solid var(--color-warn-solid)' },
  '.cm-foldPlaceholder': {
    backgroundColor: 'var(--color-sunken)',
    border: 'none',
    color: 'var(--color-muted)',
    padding: '0 6px',
  },
  '.cm-changedLine': { backgroundColor: 'color-mix(in srgb, var(--color-ok-soft) 55%, transparent) !important' },
  '.cm-deletedChunk': { backgroundColor: 'color-mix(in srgb, var(--color-bad-soft) 55%, transparent)' },
});

const words = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--color-run)' },
  { tag: tags.string, color: 'var(--color-ok)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--color-wait)' },
  { tag: [tags.brace, tags.squareBracket, tags.separator], color: 'var(--color-muted)' },
]);

export function editorLook(): Extension {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
  return [look, syntaxHighlighting(words), nonce === '' ? [] : EditorView.cspNonce.of(nonce)];
}
