// A new workflow: from a template with a form, from a skeleton of each format, or from JSON.

import { useNavigate, useSearch } from '@tanstack/react-router';
import { FileJson, GitFork, ListTree, Workflow } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { Button } from '../../component/button.tsx';
import { Page, Panel } from '../../component/page.tsx';
import { Answered, Empty, Skeleton } from '../../component/state.tsx';
import { complain, say } from '../../component/toast.tsx';
import { useRefusal } from '../../data/session-query.ts';
import { createWorkflow, startPlan, useActionTypes, useWorkflow, useWorkflowTemplates } from '../../data/workflows.ts';
import { SKELETONS } from '../../model/skeleton.ts';
import { clipped } from '../../model/text.ts';
import { useCompiled } from '../../worker/compiler.ts';
import { TemplateDialog } from './template-dialog.tsx';

const JsonEditor = lazy(async () => ({ default: (await import('../../editor/json-editor.tsx')).JsonEditor }));

export function NewWorkflowPage() {
  const { from, format } = useSearch({ strict: false }) as { from?: string; format?: string };
  const navigate = useNavigate();
  if (from !== undefined) return <Copied from={from} />;
  const skeleton = SKELETONS.find(({ id }) => id === format);
  if (skeleton !== undefined) return <Writing title={skeleton.title} first={skeleton.text} />;
  return (
    <Page title="New workflow" detail="Begin with a template, or write a definition.">
      <div className="grid gap-3 md:grid-cols-3">
        {SKELETONS.map(({ id, title, about }) => (
          <Choice
            key={id}
            title={title}
            about={about}
            icon={ICONS[id]}
            onClick={() => void navigate({ to: '.', search: { format: id } })}
          />
        ))}
      </div>
      <Gallery />
    </Page>
  );
}

const ICONS: Readonly<Record<string, ReactNode>> = {
  graph: <Workflow className="size-5" />,
  pipeline: <ListTree className="size-5" />,
  plan: <GitFork className="size-5" />,
};

function Choice({
  title,
  about,
  icon,
  onClick,
}: {
  readonly title: string;
  readonly about: string;
  readonly icon: ReactNode;
  readonly onClick: () => void;
}) {
  return (
    <button type="button" onClick={onClick} className="panel flex flex-col gap-1 p-4 text-left hover:border-accent!">
      <span className="mb-1 text-accent" aria-hidden="true">
        {icon}
      </span>
      <span className="font-medium">{clipped(title, 80)}</span>
      <span className="text-muted">{clipped(about, 200)}</span>
    </button>
  );
}

function Gallery() {
  const templates = useWorkflowTemplates();
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <Panel title="Templates">
      <Answered query={templates} what="the templates">
        {(list) =>
          list.length === 0 ? (
            <Empty title="No templates">They are added with the API, by people with the scope templates:manage.</Empty>
          ) : (
            <div className="grid gap-3 p-4 md:grid-cols-2 xl:grid-cols-3">
              {list.map(({ id, displayName, description }) => (
                <Choice
                  key={id}
                  title={displayName}
                  about={description}
                  icon={<FileJson className="size-5" />}
                  onClick={() => setChosen(id)}
                />
              ))}
            </div>
          )
        }
      </Answered>
      {chosen !== null && <TemplateDialog id={chosen} onClose={() => setChosen(null)} />}
    </Panel>
  );
}

function Copied({ from }: { readonly from: string }) {
  const workflow = useWorkflow(from);
  return (
    <Answered query={workflow} what="the workflow">
      {({ definition, format }) => {
        const name = format === 'pipeline' ? 'name' : 'id';
        const copy = { ...definition, [name]: `${String(definition?.[name] ?? 'workflow')}-copy` };
        return <Writing title={`Copy of ${clipped(from, 60)}`} first={`${JSON.stringify(copy, null, 2)}\n`} />;
      }}
    </Answered>
  );
}

function Writing({ title, first }: { readonly title: string; readonly first: string }) {
  const navigate = useNavigate();
  const [text, setText] = useState(first);
  const actions = useActionTypes();
  const compiled = useCompiled(text, actions);
  const refused = useRefusal('workflows:manage');
  const definition = compiled?.definition as { steps?: unknown; tasks?: unknown } | undefined;
  const isPlan = definition !== undefined && Array.isArray(definition.steps);
  const create = async () => {
    try {
      if (isPlan) {
        const executionId = await startPlan(definition as object);
        await navigate({ to: '/executions/$executionId', params: { executionId } });
        return;
      }
      const id = await createWorkflow(definition as object);
      say(`${id} is made`);
      await navigate({ to: '/workflows/$workflowId', params: { workflowId: id } });
    } catch (error) {
      complain('It was refused', error);
    }
  };
  const wrong =
    compiled === null ? 'Checking …' : compiled.isOk ? null : `There are ${compiled.problems.length} problems`;
  const word = isPlan ? 'Run it' : definition?.tasks === undefined ? 'Create the draft' : 'Create it';
  return (
    <Page
      fill
      title={title}
      actions={
        <>
          <Button onClick={() => void navigate({ to: '/workflows/new', search: {} })}>Back</Button>
          <Button kind="primary" reason={refused ?? wrong} onClick={() => void create()}>
            {word}
          </Button>
        </>
      }
    >
      <div className="panel min-h-0 flex-1 overflow-hidden">
        <Suspense fallback={<Skeleton rows={12} />}>
          <JsonEditor label="Definition" value={text} onChange={setText} problems={compiled?.problems ?? []} />
        </Suspense>
      </div>
      {(compiled?.problems.length ?? 0) > 0 && (
        <ul className="max-h-40 overflow-y-auto text-xs text-bad" aria-label="Problems">
          {compiled!.problems.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <span className="font-mono">{path}</span> {message}
            </li>
          ))}
        </ul>
      )}
    </Page>
  );
}
