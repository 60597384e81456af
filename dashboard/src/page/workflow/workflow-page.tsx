// One workflow: its design as graph and text, its versions, triggers, executions and numbers; run it, publish it, roll it back.

import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Ellipsis, Play } from 'lucide-react';
import { useState } from 'react';
import { BulkDialog } from '../../component/bulk-dialog.tsx';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Menu } from '../../component/menu.tsx';
import { Page, TabLinks } from '../../component/page.tsx';
import { Answered } from '../../component/state.tsx';
import { Status } from '../../component/status.tsx';
import { Switch } from '../../component/switch.tsx';
import { complain, say } from '../../component/toast.tsx';
import { type BulkTarget, countBulk, orderBulk } from '../../data/bulk.ts';
import { useRefusal } from '../../data/session-query.ts';
import {
  archiveWorkflow,
  deleteWorkflow,
  reactivateWorkflow,
  setWorkflowEnabled,
  useWorkflow,
} from '../../data/workflows.ts';
import { clipped } from '../../model/text.ts';
import type { WorkflowItem } from '../../model/workflow-item.ts';
import { DesignTab } from './design-tab.tsx';
import { ExecutionsTab } from './executions-tab.tsx';
import { RunDialog } from './run-dialog.tsx';
import { StatsTab } from './stats-tab.tsx';
import { TriggersTab } from './triggers-tab.tsx';
import { VersionsTab } from './versions-tab.tsx';

const TABS = [
  { id: 'design', label: 'Design' },
  { id: 'versions', label: 'Versions' },
  { id: 'triggers', label: 'Triggers' },
  { id: 'executions', label: 'Executions' },
  { id: 'stats', label: 'Stats' },
] as const;

export function WorkflowPage() {
  const { workflowId } = useParams({ strict: false }) as { workflowId: string };
  const workflow = useWorkflow(workflowId);
  return (
    <Answered query={workflow} what="the workflow" rows={10}>
      {(item) => <WorkflowShown key={item.id} item={item} />}
    </Answered>
  );
}

function WorkflowShown({ item }: { readonly item: WorkflowItem }) {
  const search = useSearch({ strict: false }) as { tab?: string };
  const tab = TABS.find(({ id }) => id === search.tab)?.id ?? 'design';
  const [isRunning, setRunning] = useState(false);
  const mayRun = useRefusal('workflows:execute');
  const refused =
    mayRun ??
    (item.status === 'Active'
      ? item.isEnabled
        ? null
        : 'It is switched off'
      : `It is ${item.status}: publish it first`);
  return (
    <Page
      fill
      title={item.title}
      head={<Title item={item} />}
      detail={
        <p className="max-w-3xl truncate">
          <span className="font-mono text-xs">{clipped(item.id, 80)}</span>
          {item.description !== undefined && ` · ${clipped(item.description, 300)}`}
        </p>
      }
      actions={
        <>
          <Button
            kind="primary"
            icon={<Play className="size-3.5" aria-hidden="true" />}
            reason={refused}
            onClick={() => setRunning(true)}
          >
            Run…
          </Button>
          <MoreMenu item={item} />
        </>
      }
    >
      <div className="-mt-2">
        <TabLinks label="Parts of the workflow" tabs={TABS} current={tab} />
      </div>
      <div className="flex min-h-0 flex-1 flex-col overflow-auto">
        {tab === 'design' && <DesignTab item={item} />}
        {tab === 'versions' && <VersionsTab item={item} />}
        {tab === 'triggers' && <TriggersTab item={item} />}
        {tab === 'executions' && <ExecutionsTab item={item} />}
        {tab === 'stats' && <StatsTab item={item} />}
      </div>
      {isRunning && <RunDialog item={item} onClose={() => setRunning(false)} />}
    </Page>
  );
}

function Title({ item }: { readonly item: WorkflowItem }) {
  const client = useQueryClient();
  const refused = useRefusal('workflows:manage');
  const toggle = async () => {
    try {
      await setWorkflowEnabled(item.id, !item.isEnabled);
      await client.invalidateQueries({ queryKey: ['workflow', item.id] });
    } catch (error) {
      complain('The switch was refused', error);
    }
  };
  return (
    <>
      <span className="min-w-0 wrap-anywhere">{clipped(item.title, 120)}</span>
      <Status status={item.status} />
      <span className="text-sm font-normal text-muted">
        {item.format}
        {item.version !== undefined && ` v${item.version}`}
        {item.hasDraft && item.version !== undefined && ' + draft'}
      </span>
      <span className="flex items-center gap-1.5 text-sm font-normal text-muted">
        <Switch isOn={item.isEnabled} label="Enabled" reason={refused} onChange={() => void toggle()} />
        {item.isEnabled ? 'on' : 'off'}
      </span>
    </>
  );
}

function MoreMenu({ item }: { readonly item: WorkflowItem }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const refused = useRefusal('workflows:manage');
  const run = async (what: string, act: () => Promise<unknown>) => {
    try {
      await act();
      say(`${what}: done`);
      await client.invalidateQueries({ queryKey: ['workflow', item.id] });
    } catch (error) {
      complain(`${what} was refused`, error);
    }
  };
  const [isStopping, setStopping] = useState(false);
  const signal = useRefusal('executions:signal');
  const command = useCommand(['executions']);
  const live: BulkTarget = { filter: { workflowId: item.id, status: ['Pending', 'Running', 'Paused'] } };
  const stop = async (requestId: string, reason: string) => {
    const made = await command('Cancel', () => orderBulk(requestId, 'cancel', live, reason));
    if (made?.bulkId !== undefined) await navigate({ to: '/bulk/$bulkId', params: { bulkId: made.bulkId } });
    return made !== undefined;
  };
  const isArchived = item.status === 'Archived';
  const isDeletable = item.format === 'pipeline' || item.status === 'Draft';
  return (
    <>
      <Menu
        trigger={
          <Button aria-label="More actions">
            <Ellipsis className="size-4" aria-hidden="true" />
          </Button>
        }
        entries={[
          {
            label: 'Duplicate as new',
            onSelect: () => void navigate({ to: '/workflows/new', search: { from: item.id } }),
          },
          {
            label: 'Cancel what is live…',
            reason: signal,
            onSelect: () => setStopping(true),
          },
          {
            label: isArchived ? 'Reactivate' : 'Archive',
            reason: refused ?? (item.status === 'Draft' ? 'A draft is deleted instead' : null),
            onSelect: () =>
              void run(isArchived ? 'Reactivate' : 'Archive', () =>
                isArchived ? reactivateWorkflow(item.id) : archiveWorkflow(item.id),
              ),
          },
          {
            label: 'Delete',
            isDanger: true,
            reason: refused ?? (isDeletable ? null : 'What was published is archived, never deleted'),
            onSelect: () =>
              void run('Delete', async () => {
                await deleteWorkflow(item.id);
                await navigate({ to: '/workflows' });
              }),
          },
        ]}
      />
      {isStopping && (
        <BulkDialog
          action="cancel"
          count={() => countBulk('cancel', live)}
          order={stop}
          onClose={() => setStopping(false)}
        />
      )}
    </>
  );
}
