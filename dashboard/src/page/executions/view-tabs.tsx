// Views: filters with a name. Some are built in, some are the reader's own and live on this machine.

import { Bookmark, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { Dialog } from '../../component/dialog.tsx';
import { Menu } from '../../component/menu.tsx';
import { usePreference, writePreference } from '../../data/preference.ts';
import {
  BUILT_IN_VIEWS,
  type ExecutionFilter,
  isEmptyFilter,
  readViews,
  searchOfFilter,
  withView,
} from '../../model/execution-filter.ts';

interface ViewTabsProps {
  readonly filter: ExecutionFilter;
  readonly onChoose: (filter: ExecutionFilter) => void;
}

const wordsOf = (filter: ExecutionFilter): string => JSON.stringify(Object.entries(searchOfFilter(filter)).toSorted());

export function ViewTabs({ filter, onChoose }: ViewTabsProps) {
  const own = readViews(usePreference('views'));
  const [isSaving, setSaving] = useState(false);
  const words = wordsOf(filter);
  return (
    <>
      <div
        className="flex max-w-full gap-0.5 overflow-x-auto rounded-lg bg-sunken p-0.5"
        role="group"
        aria-label="Views"
      >
        {[...BUILT_IN_VIEWS, ...own].map((view) => (
          <button
            key={view.name}
            type="button"
            aria-pressed={wordsOf(view.filter) === words}
            onClick={() => onChoose(view.filter)}
            className="h-7 shrink-0 rounded-md px-2.5 text-xs whitespace-nowrap font-medium text-muted hover:text-text aria-pressed:bg-panel aria-pressed:text-text aria-pressed:shadow-sm"
          >
            {view.name}
          </button>
        ))}
      </div>
      <Menu
        trigger={
          <Button small kind="quiet" icon={<Bookmark className="size-3.5" aria-hidden="true" />}>
            Views
          </Button>
        }
        entries={[
          {
            label: 'Save this view…',
            reason: isEmptyFilter(filter) ? 'Set a filter first' : null,
            onSelect: () => setSaving(true),
          },
          ...own.map(({ name }) => ({
            label: `Delete “${name}”`,
            icon: <Trash2 className="size-3.5" />,
            onSelect: () => writePreference('views', JSON.stringify(own.filter((view) => view.name !== name))),
          })),
        ]}
      />
      <SaveView
        isOpen={isSaving}
        onClose={() => setSaving(false)}
        onSave={(name) => writePreference('views', JSON.stringify(withView(own, { name, filter })))}
      />
    </>
  );
}

function SaveView({
  isOpen,
  onClose,
  onSave,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onSave: (name: string) => void;
}) {
  const [name, setName] = useState('');
  const save = () => {
    onSave(name.trim());
    setName('');
    onClose();
  };
  return (
    <Dialog
      title="Save this view"
      description="It is kept in this browser."
      isOpen={isOpen}
      onClose={onClose}
      actions={
        <Button kind="primary" reason={name.trim() === '' ? 'Give it a name' : null} onClick={save}>
          Save
        </Button>
      }
    >
      <label className="flex flex-col gap-1">
        <span className="text-muted">Name</span>
        <input
          className="field"
          value={name}
          maxLength={60}
          onChange={({ target }) => setName(target.value)}
          onKeyDown={({ key }) => key === 'Enter' && name.trim() !== '' && save()}
        />
      </label>
    </Dialog>
  );
}
