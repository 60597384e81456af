// The palette: pages, workflows, any id that is pasted, and what can be done. Ctrl or Cmd K opens it.

import { Dialog as Base } from '@base-ui/react/dialog';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useFound } from '../data/find.ts';
import { writePreference } from '../data/preference.ts';
import { useWorkflowNames } from '../data/workflows.ts';
import { matching, type PaletteEntry } from '../model/palette.ts';
import { PLACES } from './navigation.tsx';

export function Palette({ onClose }: { readonly onClose: () => void }) {
  return (
    <Base.Root open onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-[rgb(10_12_18/0.45)]" />
        <Base.Popup className="fixed inset-x-0 top-[12vh] z-50 mx-auto w-[min(38rem,94vw)] overflow-hidden rounded-xl border bg-raised shadow-float outline-none">
          <Base.Title className="sr-only">Search</Base.Title>
          <PaletteBody onClose={onClose} />
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

function PaletteBody({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const names = useWorkflowNames();
  const [text, setText] = useState('');
  const [cursor, setCursor] = useState(0);
  const found = useFound(text);
  const fixed = useMemo(() => [...PAGES, ...names.map(workflowEntry), ...THEME_ENTRIES], [names]);
  const entries = [...found, ...matching(fixed, text)].slice(0, 12);
  const choose = (entry: PaletteEntry | undefined) => {
    if (entry === undefined) return;
    onClose();
    if (entry.act !== undefined) entry.act();
    else void navigate({ to: entry.to!, search: {} });
  };
  return (
    <>
      <input
        // biome-ignore lint/a11y/noAutofocus: the palette is opened to type
        autoFocus
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${cursor}`}
        aria-label="Search pages, workflows and ids"
        placeholder="A page, a workflow, or any id"
        className="h-12 w-full border-b bg-transparent px-4 text-base outline-none"
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setCursor(0);
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') setCursor(Math.min(entries.length - 1, cursor + 1));
          else if (event.key === 'ArrowUp') setCursor(Math.max(0, cursor - 1));
          else if (event.key === 'Enter') choose(entries[cursor]);
          else return;
          event.preventDefault();
        }}
      />
      <div id="palette-list" role="listbox" aria-label="Results" className="max-h-96 overflow-y-auto p-1.5">
        {entries.length === 0 && <p className="px-3 py-6 text-center text-muted">Nothing is called that.</p>}
        {entries.map((entry, index) => (
          <div
            key={`${entry.kind} ${entry.label}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === cursor}
            className="flex cursor-pointer items-center justify-between gap-3 rounded-md px-3 py-2 aria-selected:bg-hover"
            onClick={() => choose(entry)}
            onKeyDown={() => {}}
            onMouseMove={() => setCursor(index)}
            tabIndex={-1}
          >
            <span className="truncate">{entry.label}</span>
            <span className="shrink-0 text-xs text-faint">{entry.kind}</span>
          </div>
        ))}
      </div>
    </>
  );
}

const PAGES: readonly PaletteEntry[] = [
  ...PLACES.flatMap(([, places]) => places.map(({ to, label }) => ({ kind: 'page', label, to }))),
  { kind: 'page', label: 'New workflow', to: '/workflows/new' },
];

const workflowEntry = (name: string): PaletteEntry => ({
  kind: 'workflow',
  label: name,
  to: `/workflows/${encodeURIComponent(name)}`,
});

const THEME_ENTRIES: readonly PaletteEntry[] = ['light', 'dark', 'system'].map((theme) => ({
  kind: 'action',
  label: `Theme: ${theme}`,
  act: () => writePreference('theme', theme),
}));
