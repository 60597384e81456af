// Before a version is made: what changes, what is warned of, how many executions run on which version.

import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Button } from '../../component/button.tsx';
import { Dialog } from '../../component/dialog.tsx';
import { Skeleton } from '../../component/state.tsx';
import { complain, say } from '../../component/toast.tsx';
import { publishWorkflow } from '../../data/workflows.ts';
import { clipped } from '../../model/text.ts';
import type { WorkflowItem } from '../../model/workflow-item.ts';

const TextDiff = lazy(async () => ({ default: (await import('../../editor/text-diff.tsx')).TextDiff }));

interface PublishDialogProps {
  readonly item: WorkflowItem;
  readonly text: string;
  /** Null: everything is saved. */
  readonly onSave: (() => Promise<boolean>) | null;
  readonly onClose: () => void;
}

export function PublishDialog({ item, text, onSave, onClose }: PublishDialogProps) {
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const publish = async () => {
    setBusy(true);
    try {
      if (onSave !== null && !(await onSave())) return;
      if (item.format !== 'pipeline') {
        const { version, warnings } = await publishWorkflow(item.id);
        say(`Version ${version} is active`, warnings?.map(({ message }) => message).join('; '));
      }
      await client.invalidateQueries({ queryKey: ['workflow', item.id] });
      onClose();
    } catch (error) {
      complain('Publishing was refused', error);
    } finally {
      setBusy(false);
    }
  };
  const before = item.version === undefined ? '' : `${JSON.stringify(item.definition ?? {}, null, 2)}\n`;
  return (
    <Dialog
      wide
      isOpen
      onClose={onClose}
      title={`Publish ${clipped(item.title, 60)}`}
      description={
        item.version === undefined
          ? 'This is its first version.'
          : `Compared with version ${item.version}. Executions in flight keep theirs.`
      }
      actions={
        <>
          <Button onClick={onClose}>Not yet</Button>
          <Button kind="primary" reason={isBusy ? 'Publishing …' : null} onClick={() => void publish()}>
            Publish
          </Button>
        </>
      }
    >
      {item.warnings.length > 0 && (
        <ul className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          {item.warnings.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <span className="font-mono text-xs">{path}</span> {message}
            </li>
          ))}
        </ul>
      )}
      <div className="min-h-40 overflow-hidden rounded-md border">
        <Suspense fallback={<Skeleton />}>
          <TextDiff before={before} after={text} label="What changes" />
        </Suspense>
      </div>
    </Dialog>
  );
}
