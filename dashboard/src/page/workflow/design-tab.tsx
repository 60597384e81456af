// The design: the graph beside the text, all problems at once at their lines, a form for the chosen node that edits the same
// text. What is typed is kept on this machine until it is saved; a save of somebody else in between is a conflict, not a loss.

import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useRef, useState } from 'react';
import { Button } from '../../component/button.tsx';
import { Answered, Skeleton } from '../../component/state.tsx';
import { complain, say } from '../../component/toast.tsx';
import { useLastData } from '../../data/executions.ts';
import { useRefusal } from '../../data/session-query.ts';
import { dropDraft, saveDefinition, useActions, useActionTypes, useWorkflow } from '../../data/workflows.ts';
import type { CompletionNames } from '../../editor/completion.ts';
import type { EditorHandle } from '../../editor/json-editor.tsx';
import { graphOfDefinition, wrongNodes } from '../../model/definition-graph.ts';
import type { WorkflowItem } from '../../model/workflow-item.ts';
import { useCompiled } from '../../worker/compiler.ts';
import { useLocalText } from './local-text.ts';
import { MergeDialog } from './merge-dialog.tsx';
import { NodeForm } from './node-form.tsx';
import { ProblemList } from './problem-list.tsx';
import { PublishDialog } from './publish-dialog.tsx';

const PlanGraph = lazy(async () => ({ default: (await import('../../graph/plan-graph.tsx')).PlanGraph }));
const JsonEditor = lazy(async () => ({ default: (await import('../../editor/json-editor.tsx')).JsonEditor }));

export function DesignTab({ item }: { readonly item: WorkflowItem }) {
  const draft = useWorkflow(item.id, item.hasDraft ? 'draft' : undefined);
  return (
    <Answered query={draft} what="the definition">
      {(shown) => (
        <Design
          key={`${item.hasDraft}`}
          item={item}
          checksum={shown.checksum}
          base={`${JSON.stringify(shown.definition ?? {}, null, 2)}\n`}
        />
      )}
    </Answered>
  );
}

interface DesignProps {
  readonly item: WorkflowItem;
  readonly base: string;
  /** Of the draft that is shown: a save of somebody else in between is refused. */
  readonly checksum: string | undefined;
}

/** True when it was saved. The very text that is shown: what was compiled may be some keys behind. */
function useSave({ item, checksum }: DesignProps, local: ReturnType<typeof useLocalText>) {
  const client = useQueryClient();
  return async () => {
    try {
      const definition = JSON.parse(local.text) as object;
      await saveDefinition(item, definition, item.hasDraft ? checksum : undefined);
      local.saved();
      say(item.format === 'pipeline' ? 'Published a new version' : 'The draft is saved');
      await client.invalidateQueries({ queryKey: ['workflow', item.id] });
      return true;
    } catch (error) {
      complain('Saving was refused; your text is kept', error);
      return false;
    }
  };
}

function Design(props: DesignProps) {
  const { item, base } = props;
  const local = useLocalText(item.id, base);
  const actions = useActionTypes();
  const compiled = useCompiled(local.text, actions);
  const editor = useRef<EditorHandle>(null);
  const search = useSearch({ strict: false }) as { node?: string };
  const navigate = useNavigate();
  const select = (node: string | undefined) =>
    void navigate({ to: '.', replace: true, search: (before: Record<string, unknown>) => ({ ...before, node }) });
  const definition = compiled?.definition;
  const save = useSave(props, local);
  const graph = useMemo(() => graphOfDefinition(definition), [definition]);
  const problems = useMemo(
    () => [...(compiled?.problems ?? []), ...(compiled?.warnings ?? []).map((each) => ({ ...each, isWarning: true }))],
    [compiled],
  );
  const names = useNames(item, graph.nodes);
  const wrong = wrongNodes(graph, compiled?.problems ?? []);
  const chosen = graph.nodes.find(({ id }) => id === search.node);
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3">
      <DesignBar
        item={item}
        base={base}
        local={local}
        save={save}
        definition={definition}
        problemCount={compiled?.problems.length ?? 0}
        isRead={compiled !== null}
      />
      <div className="flex min-h-0 flex-1 flex-col gap-3 lg:flex-row">
        <div className="panel flex h-72 min-w-0 shrink-0 flex-col overflow-hidden lg:h-auto lg:flex-1 lg:shrink">
          <Suspense fallback={<Skeleton />}>
            {graph.nodes.length > 0 && (
              <PlanGraph
                label="Graph of the definition"
                nodes={graph.nodes.map(({ id, type }) => ({ id, type, isWrong: wrong.has(id) }))}
                edges={graph.edges}
                selected={search.node}
                onSelect={(id) => {
                  select(id);
                  const node = graph.nodes.find((each) => each.id === id);
                  if (node !== undefined) editor.current?.goTo(node.pointer);
                }}
              />
            )}
          </Suspense>
          {chosen !== undefined && (
            <NodeForm
              node={chosen}
              text={local.text}
              onText={local.setText}
              onClose={() => select(undefined)}
              format={item.format}
            />
          )}
        </div>
        <div className="panel flex h-[32rem] min-w-0 shrink-0 flex-col overflow-hidden lg:h-auto lg:flex-1 lg:shrink">
          <div className="min-h-0 flex-1">
            <Suspense fallback={<Skeleton rows={12} />}>
              <JsonEditor
                label="Definition"
                value={local.text}
                onChange={local.setText}
                problems={problems}
                onSave={() => definition !== undefined && local.isChanged && item.format !== 'pipeline' && void save()}
                handle={editor}
                names={names}
              />
            </Suspense>
          </div>
          <ProblemList problems={problems} isRead={compiled !== null} editor={editor} />
        </div>
      </div>
    </div>
  );
}

/** What the editor completes from: the catalog, this text's nodes, and the data of the last execution. */
function useNames({ id, format }: WorkflowItem, nodes: readonly { readonly id: string }[]): CompletionNames {
  const actions = useActions();
  const data = useLastData(id, format);
  return {
    actions: (actions ?? []).map((action) => ({ id: action.id, description: action.displayName })),
    nodes: nodes.map((node) => node.id),
    data,
  };
}

interface DesignBarProps {
  readonly item: WorkflowItem;
  /** As the server has it. */
  readonly base: string;
  readonly local: ReturnType<typeof useLocalText>;
  readonly save: () => Promise<boolean>;
  readonly definition: unknown;
  readonly problemCount: number;
  readonly isRead: boolean;
}

function DesignBar({ item, base, local, save, definition, problemCount, isRead }: DesignBarProps) {
  const client = useQueryClient();
  const refused = useRefusal('workflows:manage');
  const [isPublishing, setPublishing] = useState(false);
  const [isMerging, setMerging] = useState(false);
  const isPipeline = item.format === 'pipeline';
  const wrong =
    !isRead || definition === undefined
      ? 'The text is not JSON yet'
      : problemCount > 0
        ? `There are ${problemCount} problems`
        : null;
  const drop = async () => {
    try {
      if (item.hasDraft && item.status === 'Active') await dropDraft(item.id);
      local.drop();
      await client.invalidateQueries({ queryKey: ['workflow', item.id] });
    } catch (error) {
      complain('Dropping the draft was refused', error);
    }
  };
  return (
    <div className="flex flex-wrap items-center gap-2">
      <span className="text-xs text-muted" role="status">
        {local.isChanged
          ? 'Changed here, not saved'
          : item.hasDraft
            ? 'This is the draft'
            : `This is version ${item.version ?? '–'}`}
        {local.isConflict && <b className="text-warn"> · somebody else has saved meanwhile</b>}
      </span>
      {local.isConflict && (
        <Button small onClick={() => setMerging(true)}>
          Compare and merge…
        </Button>
      )}
      <span className="flex-1" />
      {(local.isChanged || (item.hasDraft && item.status === 'Active')) && (
        <Button small kind="quiet" onClick={() => void drop()}>
          {local.isChanged ? 'Drop changes' : 'Drop draft'}
        </Button>
      )}
      {!isPipeline && (
        <Button
          small
          reason={
            refused ??
            (local.isConflict ? 'Compare with what somebody else has saved first' : null) ??
            (local.isChanged ? (definition === undefined ? wrong : null) : 'Nothing has changed')
          }
          onClick={() => void save()}
        >
          Save draft
        </Button>
      )}
      <Button
        small
        kind="primary"
        reason={
          refused ??
          wrong ??
          (local.isConflict ? 'Compare with what somebody else has saved first' : null) ??
          (local.isChanged || item.hasDraft || item.status === 'Draft' ? null : 'Nothing has changed')
        }
        onClick={() => setPublishing(true)}
      >
        Publish…
      </Button>
      {isMerging && (
        <MergeDialog
          begunFrom={local.begunFrom}
          mine={local.text}
          theirs={base}
          onSettle={local.settle}
          onClose={() => setMerging(false)}
        />
      )}
      {isPublishing && (
        <PublishDialog
          item={item}
          text={local.text}
          onSave={local.isChanged ? save : null}
          onClose={() => setPublishing(false)}
        />
      )}
    </div>
  );
}
