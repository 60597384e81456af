// Workflows: what there is, whether it is switched on, how it does, when it ran last and runs next.

import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { Bars } from '../../component/bars.tsx';
import { ButtonLink } from '../../component/button.tsx';
import { Page } from '../../component/page.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Status } from '../../component/status.tsx';
import { Switch } from '../../component/switch.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { Time } from '../../component/time.tsx';
import { complain, say } from '../../component/toast.tsx';
import { useRefusal } from '../../data/session-query.ts';
import { setWorkflowEnabled, useWorkflowList, type WorkflowListFilter } from '../../data/workflows.ts';
import { BUCKET_MS, seriesOf } from '../../model/series.ts';
import { clipped, percentText } from '../../model/text.ts';
import { durationText } from '../../model/time.ts';
import type { WorkflowItem } from '../../model/workflow-item.ts';

export function WorkflowsPage() {
  const filter = useSearch({ strict: false }) as WorkflowListFilter;
  const list = useWorkflowList(filter);
  return (
    <Page
      title="Workflows"
      actions={
        <ButtonLink to="/workflows/new" kind="primary" icon={<Plus className="size-4" aria-hidden="true" />}>
          New workflow
        </ButtonLink>
      }
    >
      <Filters filter={filter} />
      <Answered query={list} what="the workflows" rows={8}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={Object.values(filter).some(Boolean) ? 'No workflow matches' : 'No workflows yet'}>
              <p className="mb-3">A workflow is a graph, a pipeline of HTTP calls, or an execution plan.</p>
              <ButtonLink to="/workflows/new">Make the first one</ButtonLink>
            </Empty>
          ) : (
            <WorkflowTable items={items} />
          )
        }
      </Answered>
    </Page>
  );
}

function Filters({ filter }: { readonly filter: WorkflowListFilter }) {
  const navigate = useNavigate();
  const set = (change: WorkflowListFilter) =>
    void navigate({ to: '.', search: { ...filter, ...change }, replace: true });
  return (
    <search className="flex flex-wrap gap-2">
      <input
        type="search"
        className="field w-56"
        placeholder="Name or description"
        aria-label="Search workflows"
        defaultValue={filter.search ?? ''}
        onChange={({ target }) => set({ search: target.value === '' ? undefined : target.value })}
      />
      <select
        className="field"
        aria-label="Status"
        value={filter.status ?? ''}
        onChange={({ target }) => set({ status: target.value || undefined })}
      >
        <option value="">Any status</option>
        <option>Active</option>
        <option>Draft</option>
        <option>Archived</option>
      </select>
      <select
        className="field"
        aria-label="Format"
        value={filter.format ?? ''}
        onChange={({ target }) => set({ format: target.value || undefined })}
      >
        <option value="">Any format</option>
        <option value="graph">Graph</option>
        <option value="pipeline">Pipeline</option>
        <option value="plan">Plan</option>
      </select>
    </search>
  );
}

function WorkflowTable({ items }: { readonly items: readonly WorkflowItem[] }) {
  return (
    <Table
      label="Workflows"
      columns={['Workflow', 'Status', 'Format', 'Version', 'Last 24 h', 'Last run', 'Next', 'On']}
    >
      {items.map((item) => (
        <WorkflowRow key={item.id} item={item} />
      ))}
    </Table>
  );
}

function WorkflowRow({ item }: { readonly item: WorkflowItem }) {
  const client = useQueryClient();
  const refused = useRefusal('workflows:manage');
  const toggle = async () => {
    try {
      await setWorkflowEnabled(item.id, !item.isEnabled);
      say(`${clipped(item.id, 40)} is ${item.isEnabled ? 'off' : 'on'}`);
      await client.invalidateQueries({ queryKey: ['workflows'] });
    } catch (error) {
      complain('The switch was refused', error);
    }
  };
  return (
    <Row>
      <Cell isMain>
        <Link to="/workflows/$workflowId" params={{ workflowId: item.id }} className="font-medium hover:text-accent">
          {clipped(item.title, 80)}
        </Link>
        <span className="block max-w-xs truncate text-xs 2xl:max-w-lg text-muted">
          <span className="font-mono">{clipped(item.id, 60)}</span>
          {item.description !== undefined && ` · ${clipped(item.description, 140)}`}
        </span>
      </Cell>
      <Cell label="Status">
        <Status status={item.status} />
      </Cell>
      <Cell label="Format">{item.format}</Cell>
      <Cell label="Version">
        {item.version === undefined ? '–' : `v${item.version}`}
        {item.hasDraft && item.status === 'Active' && <span className="text-warn"> + draft</span>}
      </Cell>
      <Cell label="Last 24 h">
        <Day item={item} />
      </Cell>
      <Cell label="Last run">
        <LastRun item={item} />
      </Cell>
      <Cell label="Next">
        <Time at={item.nextFireAt} />
      </Cell>
      <Cell label="On">
        <Switch
          isOn={item.isEnabled}
          label={`${clipped(item.id, 60)} is enabled`}
          reason={refused}
          onChange={() => void toggle()}
        />
      </Cell>
    </Row>
  );
}

const HOURS = 24;

/** A bar for each hour, and how much of it failed. */
function Day({ item }: { readonly item: WorkflowItem }) {
  if (item.stats.length === 0) return <span className="text-faint">–</span>;
  const series = seriesOf(item.stats, BUCKET_MS.hour, HOURS, Date.now());
  const failed = series.reduce((sum, point) => sum + point.failed, 0);
  const ended = series.reduce((sum, point) => sum + point.ended, 0);
  const slowest = Math.max(0, ...series.map(({ p95Ms }) => p95Ms ?? 0));
  return (
    <span className="flex items-center gap-2">
      <span className="w-20">
        <Bars points={series} label="Executions per hour" height={22} />
      </span>
      {ended === 0 ? (
        <span className="text-faint">–</span>
      ) : (
        <span className="flex flex-col text-2xs whitespace-nowrap text-muted">
          <span className={`tabular ${failed > 0 ? 'text-bad' : ''}`}>{percentText(failed, ended)} failed</span>
          <span className="tabular">p95 {durationText(slowest)}</span>
        </span>
      )}
    </span>
  );
}

function LastRun({ item: { lastExecution } }: { readonly item: WorkflowItem }) {
  if (lastExecution === undefined) return <span className="text-faint">never</span>;
  const { executionId, status, createdAt } = lastExecution;
  return (
    <Link
      to="/executions/$executionId"
      params={{ executionId }}
      className="inline-flex items-center gap-1.5 hover:text-accent"
    >
      <Status status={status} as="line" />
      <span className="text-xs text-muted">
        <Time at={createdAt} />
      </span>
    </Link>
  );
}
