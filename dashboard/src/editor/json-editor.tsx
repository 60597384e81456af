// A text editor for JSON: folding, search, problems at their lines, Ctrl-S. It never changes typed text by itself.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { type Ref, useEffect, useImperativeHandle, useRef } from 'react';
import { type CompletionNames, completeIn } from './completion.ts';
import { editorLook } from './editor-look.ts';
import { placeOfPointer } from './json-place.ts';

export interface EditorProblem {
  readonly path: string;
  readonly message: string;
  readonly suggestion?: string | undefined;
  readonly isWarning?: boolean;
  /** Where the text itself cannot be read. */
  readonly offset?: number | undefined;
}

export interface EditorHandle {
  goTo(pointer: string): void;
  /** Puts another name where the pointer leads: in the key or in the value, whichever is `was`. */
  replace(pointer: string, name: string, where: 'key' | 'value'): void;
}

interface JsonEditorProps {
  readonly value: string;
  readonly onChange?: (text: string) => void;
  readonly onSave?: () => void;
  readonly problems?: readonly EditorProblem[];
  readonly label: string;
  readonly isReadOnly?: boolean;
  readonly handle?: Ref<EditorHandle>;
  readonly extensions?: Extension;
  /** Names to complete from; asked for at every key. */
  readonly names?: CompletionNames | undefined;
}

export function JsonEditor(props: JsonEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    const made = new EditorView({ parent: host.current!, state: firstState(latest) });
    view.current = made;
    return () => made.destroy();
  }, []);
  const { value, problems } = props;
  useEffect(() => {
    const made = view.current!;
    if (made.state.doc.toString() === value) return;
    made.dispatch({ changes: { from: 0, to: made.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    const { state } = view.current!;
    view.current!.dispatch(
      setDiagnostics(
        state,
        (problems ?? []).map((problem) => diagnosticOf(state, problem)),
      ),
    );
  }, [problems]);
  useImperativeHandle(props.handle, () => handleOf(view), []);
  return <div ref={host} className="h-full min-h-0 overflow-hidden" />;
}

const NO_NAMES: CompletionNames = { actions: [], nodes: [], data: {} };

function firstState(latest: { readonly current: JsonEditorProps }): EditorState {
  const { value, label, isReadOnly = false, extensions = [] } = latest.current;
  const save = () => {
    latest.current.onSave?.();
    return true;
  };
  return EditorState.create({
    doc: value,
    extensions: [
      [lineNumbers(), foldGutter(), lintGutter(), history(), drawSelection(), indentOnInput(), bracketMatching()],
      [
        closeBrackets(),
        autocompletion({ override: [completeIn(() => latest.current.names ?? NO_NAMES)] }),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        highlightSelectionMatches(),
      ],
      json(),
      editorLook(),
      keymap.of([
        { key: 'Mod-s', run: save, preventDefault: true },
        ...closeBracketsKeymap,
        ...defaultKeymap,
        ...searchKeymap,
        ...historyKeymap,
        ...foldKeymap,
        ...completionKeymap,
        indentWithTab,
      ]),
      EditorView.contentAttributes.of({ 'aria-label': label }),
      EditorState.readOnly.of(isReadOnly),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) latest.current.onChange?.(state.doc.toString());
      }),
      extensions,
    ],
  });
}

function diagnosticOf(state: EditorState, { path, message, suggestion, isWarning, offset }: EditorProblem): Diagnostic {
  const place = offset === undefined ? placeOfPointer(state, path) : { from: offset, to: offset + 1 };
  const end = state.doc.length;
  const from = Math.min(place?.from ?? 0, end);
  // A whole object is marked at its first line only.
  const to = Math.min(place?.to ?? 0, state.doc.lineAt(from).to);
  const text = suggestion === undefined ? message : `${message}\n${suggestion}`;
  return { from, to: Math.max(from, to), severity: isWarning === true ? 'warning' : 'error', message: text };
}

function handleOf(view: { readonly current: EditorView | null }): EditorHandle {
  return {
    goTo(pointer) {
      const made = view.current;
      const place = made === null ? null : placeOfPointer(made.state, pointer);
      if (made === null || place === null) return;
      const at = place.key?.from ?? place.from;
      made.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
      made.focus();
    },
    replace(pointer, name, where) {
      const made = view.current;
      const place = made === null ? null : placeOfPointer(made.state, pointer);
      const target = where === 'key' ? place?.key : place;
      if (made === null || target === undefined || target === null) return;
      made.dispatch({ changes: { from: target.from, to: target.to, insert: JSON.stringify(name) } });
    },
  };
}
