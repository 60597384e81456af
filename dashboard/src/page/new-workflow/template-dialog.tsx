// A template's configuration as a form; what comes of it is a draft, ready to be published.

import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { Button } from '../../component/button.tsx';
import { Dialog } from '../../component/dialog.tsx';
import { Answered, Skeleton } from '../../component/state.tsx';
import { complain, say } from '../../component/toast.tsx';
import { instantiateTemplate, publishWorkflow, useWorkflowTemplate } from '../../data/workflows.ts';

const SchemaForm = lazy(async () => ({ default: (await import('../../editor/schema-form.tsx')).SchemaForm }));

export function TemplateDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const template = useWorkflowTemplate(id);
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [config, setConfig] = useState<unknown>({});
  const make = async (isPublished: boolean) => {
    try {
      const { workflowId } = await instantiateTemplate(id, { displayName: name, config });
      if (isPublished) await publishWorkflow(workflowId);
      say(isPublished ? `${workflowId} is active` : `${workflowId} is a draft`);
      await navigate({ to: '/workflows/$workflowId', params: { workflowId } });
    } catch (error) {
      complain('It was refused', error);
    }
  };
  const refused = name.trim() === '' ? 'Give it a name' : null;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={template.data?.displayName ?? 'Template'}
      description={template.data?.description}
      actions={
        <>
          <Button reason={refused} onClick={() => void make(false)}>
            Make a draft
          </Button>
          <Button kind="primary" reason={refused} onClick={() => void make(true)}>
            Make and publish
          </Button>
        </>
      }
    >
      <Answered query={template} what="the template">
        {({ configSchema }) => (
          <>
            <label className="flex flex-col gap-1">
              <span className="text-muted">Name of the workflow</span>
              <input className="field" value={name} maxLength={200} onChange={({ target }) => setName(target.value)} />
            </label>
            {configSchema !== undefined && configSchema !== null && (
              <Suspense fallback={<Skeleton rows={3} />}>
                <SchemaForm idPrefix="config" schema={configSchema as object} value={config} onChange={setConfig} />
              </Suspense>
            )}
          </>
        )}
      </Answered>
    </Dialog>
  );
}
