// Somebody else has saved while this text was being changed. What both did is put together; where both changed the same thing, the
// reader chooses whose stands.

import { lazy, Suspense, useMemo } from 'react';
import { Button } from '../../component/button.tsx';
import { Dialog } from '../../component/dialog.tsx';
import { Skeleton } from '../../component/state.tsx';
import { type Merge, mergeDefinitions } from '../../model/merge.ts';

const TextDiff = lazy(async () => ({ default: (await import('../../editor/text-diff.tsx')).TextDiff }));

interface MergeDialogProps {
  readonly begunFrom: string;
  readonly mine: string;
  readonly theirs: string;
  readonly onSettle: (text: string) => void;
  readonly onClose: () => void;
}

/** Null: one of the texts is not JSON yet. */
function mergeTexts(begunFrom: string, mine: string, theirs: string): Merge | null {
  try {
    return mergeDefinitions(JSON.parse(begunFrom), JSON.parse(mine), JSON.parse(theirs));
  } catch {
    return null;
  }
}

export function MergeDialog({ begunFrom, mine, theirs, onSettle, onClose }: MergeDialogProps) {
  const merge = useMemo(() => mergeTexts(begunFrom, mine, theirs), [begunFrom, mine, theirs]);
  const merged = merge === null ? mine : `${JSON.stringify(merge.merged, null, 2)}\n`;
  const settle = (text: string) => {
    onSettle(text);
    onClose();
  };
  const conflicts = merge?.conflicts ?? [];
  return (
    <Dialog
      wide
      isOpen
      onClose={onClose}
      title="Somebody else has saved"
      description={
        merge === null
          ? 'Your text is not JSON yet, so the two cannot be put together. Compare them, and choose.'
          : conflicts.length === 0
            ? 'You both changed different things. Below is what putting them together changes in their text.'
            : 'You both changed the same things. The merge has yours there; everything else is from both.'
      }
      actions={
        <>
          <Button kind="quiet" onClick={() => settle(theirs)}>
            Take theirs
          </Button>
          <Button onClick={() => settle(mine)}>Keep mine</Button>
          <Button
            kind="primary"
            reason={merge === null ? 'Your text is not JSON yet' : null}
            onClick={() => settle(merged)}
          >
            Use the merge
          </Button>
        </>
      }
    >
      {conflicts.length > 0 && (
        <ul aria-label="Conflicts" className="max-h-32 overflow-y-auto rounded-md bg-warn-soft px-3 py-2 text-warn">
          {conflicts.map((path) => (
            <li key={path} className="font-mono text-xs wrap-anywhere">
              {path}
            </li>
          ))}
        </ul>
      )}
      <div className="min-h-40 overflow-hidden rounded-md border">
        <Suspense fallback={<Skeleton />}>
          <TextDiff before={theirs} after={merged} label="Their text and the merge" />
        </Suspense>
      </div>
    </Dialog>
  );
}
