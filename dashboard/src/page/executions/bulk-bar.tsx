// What may be done with the selected executions, or with all that match the filters.

import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { BulkDialog } from '../../component/bulk-dialog.tsx';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { say } from '../../component/toast.tsx';
import { type BulkAction, type BulkTarget, countBulk, orderBulk } from '../../data/bulk.ts';
import { exportIds } from '../../data/executions.ts';
import { useRefusal } from '../../data/session-query.ts';
import { type ExecutionFilter, isEmptyFilter } from '../../model/execution-filter.ts';

interface BulkBarProps {
  readonly filter: ExecutionFilter;
  readonly selected: ReadonlySet<string>;
  readonly onDone: () => void;
}

const ACTIONS: readonly BulkAction[] = ['retry', 'cancel', 'pause', 'resume'];

export function BulkBar({ filter, selected, onDone }: BulkBarProps) {
  const navigate = useNavigate();
  const command = useCommand(['executions']);
  const signal = useRefusal('executions:signal');
  const [action, setAction] = useState<BulkAction | null>(null);
  const isEmpty = isEmptyFilter(filter);
  if (selected.size === 0 && isEmpty) return null;
  // The bulk action knows no request: without this filter it would choose more than the list shows.
  const chosenByRequest =
    selected.size === 0 && filter.requestId !== undefined
      ? 'Select rows: a filter by request cannot be acted on'
      : null;
  const target: BulkTarget = selected.size > 0 ? { ids: [...selected] } : { filter };
  const order = async (requestId: string, reason: string) => {
    const made = await command('The bulk action', () => orderBulk(requestId, action!, target, reason));
    if (made?.bulkId !== undefined) {
      onDone();
      await navigate({ to: '/bulk/$bulkId', params: { bulkId: made.bulkId } });
    }
    return made !== undefined;
  };
  const copyIds = async () => {
    const ids = selected.size > 0 ? [...selected] : await exportIds(filter);
    await navigator.clipboard.writeText(ids.join('\n'));
    say(`${ids.length} ids are in the clipboard`);
  };
  return (
    <span className="ml-auto flex flex-wrap items-center gap-1.5">
      <span>{selected.size > 0 ? 'Selected:' : 'All that match:'}</span>
      {ACTIONS.map((each) => (
        <Button key={each} small reason={signal ?? chosenByRequest} onClick={() => setAction(each)}>
          {each[0]!.toUpperCase() + each.slice(1)}
        </Button>
      ))}
      <Button small onClick={() => void copyIds()}>
        Export ids
      </Button>
      {action !== null && (
        <BulkDialog
          action={action}
          count={() => countBulk(action, target)}
          order={order}
          onClose={() => setAction(null)}
        />
      )}
    </span>
  );
}
