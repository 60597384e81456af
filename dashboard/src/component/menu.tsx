// A menu behind a button. An entry that cannot be chosen says why.

import { Menu as Base } from '@base-ui/react/menu';
import type { ReactElement, ReactNode } from 'react';

export interface MenuEntry {
  readonly label: string;
  readonly icon?: ReactNode;
  readonly reason?: string | null | undefined;
  readonly isDanger?: boolean;
  readonly isChosen?: boolean;
  readonly onSelect: () => void;
}

interface MenuProps {
  readonly trigger: ReactElement<Record<string, unknown>>;
  readonly entries: readonly (MenuEntry | 'line')[];
}

const ITEM =
  'flex w-full items-start gap-2 rounded px-2 py-1.5 text-left text-sm outline-none data-highlighted:bg-hover';

export function Menu({ trigger, entries }: MenuProps) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={4} align="end" className="z-50">
          <Base.Popup className="max-h-[70vh] min-w-48 max-w-80 overflow-y-auto rounded-lg border bg-raised p-1 shadow-float outline-none">
            {entries.map((entry, index) =>
              entry === 'line' ? (
                // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
                <div key={index} className="my-1 border-t" />
              ) : (
                <MenuItem key={entry.label} {...entry} />
              ),
            )}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

function MenuItem({ label, icon, reason, isDanger = false, isChosen = false, onSelect }: MenuEntry) {
  const isOff = reason !== undefined && reason !== null;
  return (
    <Base.Item disabled={isOff} onClick={onSelect} className={`${ITEM} ${isDanger ? 'text-bad' : ''}`}>
      {icon !== undefined && (
        <span className="mt-0.5 text-faint" aria-hidden="true">
          {icon}
        </span>
      )}
      <span className="min-w-0">
        <span className={isOff ? 'text-faint' : isChosen ? 'font-semibold' : ''}>{label}</span>
        {isOff && <span className="block text-xs text-faint">{reason}</span>}
      </span>
    </Base.Item>
  );
}
