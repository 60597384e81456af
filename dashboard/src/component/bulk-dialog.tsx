// Confirms a change of many executions: how many, and why. The order's id is fixed for the dialog, so a second click does
// nothing.

import { useEffect, useState } from 'react';
import { plural } from '../model/text.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

export interface BulkCount {
  readonly count: number;
  readonly isCapped: boolean;
}

interface BulkDialogProps {
  readonly action: string;
  readonly count: () => Promise<BulkCount>;
  /** True when it was accepted. */
  readonly order: (requestId: string, reason: string) => Promise<boolean>;
  readonly onClose: () => void;
  /** Shown when there is none. */
  readonly none?: string;
}

export function BulkDialog({ action, count, order, onClose, none = 'No execution matches.' }: BulkDialogProps) {
  const [requestId] = useState(() => crypto.randomUUID());
  const [counted, setCounted] = useState<BulkCount | Error | null>(null);
  const [reason, setReason] = useState('');
  // biome-ignore lint/correctness/useExhaustiveDependencies: counted once, when the dialog opens
  useEffect(() => {
    count().then(setCounted, (error: Error) => setCounted(error));
  }, []);
  const word = action[0]!.toUpperCase() + action.slice(1);
  const isKnown = counted !== null && !(counted instanceof Error);
  const refused = !isKnown
    ? 'Counting …'
    : counted.count === 0
      ? 'No execution matches'
      : reason.trim() === ''
        ? 'Say why, for the record'
        : null;
  const run = async () => {
    if (await order(requestId, reason.trim())) onClose();
  };
  return (
    <Dialog
      title={`${word} many executions`}
      isOpen
      onClose={onClose}
      actions={
        <Button kind={action === 'cancel' ? 'danger' : 'primary'} reason={refused} onClick={() => void run()}>
          {word} {isKnown ? plural(counted.count, 'execution') : ''}
          {isKnown && counted.isCapped ? ' or more' : ''}
        </Button>
      }
    >
      {counted instanceof Error ? (
        <p role="alert" className="text-bad">
          {counted.message}
        </p>
      ) : (
        <p data-count={isKnown ? counted.count : undefined}>
          {!isKnown
            ? 'Counting …'
            : counted.count === 0
              ? none
              : `${plural(counted.count, 'execution')}${counted.isCapped ? ' or more' : ''} match.`}
        </p>
      )}
      <label className="flex flex-col gap-1">
        <span className="text-muted">Reason</span>
        <input
          className="field"
          value={reason}
          maxLength={500}
          onChange={({ target }) => setReason(target.value)}
          onKeyDown={({ key }) => key === 'Enter' && refused === null && void run()}
        />
      </label>
    </Dialog>
  );
}
