// Starts an execution: a form from the workflow's trigger schema, or JSON. The request id is fixed for the dialog, so a second
// click starts nothing twice.

import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { Button } from '../../component/button.tsx';
import { Dialog } from '../../component/dialog.tsx';
import { Skeleton } from '../../component/state.tsx';
import { complain, say } from '../../component/toast.tsx';
import { startWorkflow } from '../../data/workflows.ts';
import { clipped } from '../../model/text.ts';
import type { WorkflowItem } from '../../model/workflow-item.ts';

const SchemaForm = lazy(async () => ({ default: (await import('../../editor/schema-form.tsx')).SchemaForm }));

export function RunDialog({ item, onClose }: { readonly item: WorkflowItem; readonly onClose: () => void }) {
  const navigate = useNavigate();
  const [requestId] = useState(() => crypto.randomUUID());
  const [asJson, setAsJson] = useState(item.triggerSchema === undefined);
  const [value, setValue] = useState<unknown>({});
  const [text, setText] = useState('{}');
  const trigger = asJson ? parsed(text) : { value };
  const start = async () => {
    try {
      const executionId = await startWorkflow(item.id, trigger?.value, requestId);
      say('Started');
      await navigate({ to: '/executions/$executionId', params: { executionId } });
    } catch (error) {
      complain('The start was refused', error);
    }
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={`Run ${clipped(item.title, 60)}`}
      description={
        item.triggerSchema === undefined ? 'The trigger is any JSON.' : 'The form is the workflow’s trigger schema.'
      }
      actions={
        <>
          {item.triggerSchema !== undefined && (
            <Button
              kind="quiet"
              onClick={() => {
                if (!asJson) setText(JSON.stringify(value ?? {}, null, 2));
                else setValue(parsed(text)?.value ?? value);
                setAsJson(!asJson);
              }}
            >
              {asJson ? 'As a form' : 'As JSON'}
            </Button>
          )}
          <Button kind="primary" reason={trigger === null ? 'The text is not JSON' : null} onClick={() => void start()}>
            Start
          </Button>
        </>
      }
    >
      {asJson ? (
        <label className="flex flex-col gap-1">
          <span className="text-muted">Trigger, as JSON</span>
          <textarea
            className="field font-mono text-xs"
            rows={8}
            spellCheck={false}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        </label>
      ) : (
        <Suspense fallback={<Skeleton rows={3} />}>
          <SchemaForm idPrefix="trigger" schema={item.triggerSchema!} value={value} onChange={setValue} />
        </Suspense>
      )}
    </Dialog>
  );
}

function parsed(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}
