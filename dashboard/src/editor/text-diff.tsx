// Two texts as one, with what was taken out and what was put in.

import { json } from '@codemirror/lang-json';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { editorLook } from './editor-look.ts';

export function TextDiff({
  before,
  after,
  label,
}: {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const view = new EditorView({
      parent: host.current!,
      doc: after,
      extensions: [
        lineNumbers(),
        json(),
        editorLook(),
        EditorState.readOnly.of(true),
        EditorView.contentAttributes.of({ 'aria-label': label }),
        unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 6 } }),
      ],
    });
    return () => view.destroy();
  }, [before, after, label]);
  return <div ref={host} className="h-full min-h-40 overflow-auto" />;
}
