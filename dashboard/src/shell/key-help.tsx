// `?` shows the keys.

import { Dialog } from '../component/dialog.tsx';

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

export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keys" isOpen onClose={onClose}>
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
