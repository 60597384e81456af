// `?` shows the keys.

import { useState } from 'react';
import { Dialog } from '../component/dialog.tsx';
import { useShortcut } from '../component/shortcut.ts';

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['Ctrl K', 'search pages, workflows and ids'],
  ['/', 'filter the list'],
  ['j  k', 'next and previous row'],
  ['x', 'select the row'],
  ['Enter', 'open the row'],
  ['[  ]', 'one fact back and on'],
  ['Ctrl S', 'save the draft'],
  ['?', 'these keys'],
];

export function KeyHelp() {
  const [isOpen, setOpen] = useState(false);
  useShortcut('?', () => setOpen(true));
  return (
    <Dialog title="Keys" isOpen={isOpen} onClose={() => setOpen(false)}>
      <dl className="grid grid-cols-[max-content_1fr] items-center gap-x-6 gap-y-2">
        {KEYS.map(([keys, what]) => (
          <div key={keys} className="contents">
            <dt>
              <kbd className="key">{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
