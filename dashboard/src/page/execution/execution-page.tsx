// One execution: what happened, why, and what to do about it. The cause of a failure stands on top; the graph, the timeline and
// the rest are tabs; the node that is chosen shows its attempts beside them. Tab, node, attempt and fact are in the address.

import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Page, TabLinks } from '../../component/page.tsx';
import { Answered } from '../../component/state.tsx';
import { type ExecutionDetail, useExecution } from '../../data/executions.ts';
import { useJournal } from '../../data/journal.ts';
import { foldTo, graphOf, type Journal } from '../../model/journal.ts';
import { CauseBanner } from './cause-banner.tsx';
import { ChildrenTab } from './children-tab.tsx';
import { DataTab } from './data-tab.tsx';
import { EventsTab } from './events-tab.tsx';
import { ExecutionActions } from './execution-actions.tsx';
import { ExecutionTitle, OriginLine } from './execution-title.tsx';
import type { ExecutionView } from './execution-view.ts';
import { GraphTab } from './graph-tab.tsx';
import { JsonTab } from './json-tab.tsx';
import { NodePanel } from './node-panel.tsx';
import { Scrubber } from './scrubber.tsx';
import { TimelineTab } from './timeline-tab.tsx';

const TABS = ['graph', 'timeline', 'events', 'data', 'children', 'json'] as const;
type TabId = (typeof TABS)[number];

export function ExecutionPage() {
  const { executionId } = useParams({ strict: false }) as { executionId: string };
  const execution = useExecution(executionId);
  const journal = useJournal(executionId);
  return (
    <Answered query={execution} what="the execution" rows={10}>
      {(data) => (
        <Answered query={journal} what="the journal" rows={10}>
          {(facts) => <ExecutionShown key={data.executionId} execution={data} journal={facts} />}
        </Answered>
      )}
    </Answered>
  );
}

interface PageSearch {
  readonly tab?: string;
  readonly node?: string;
  readonly attempt?: string;
  readonly at?: string;
}

function useView(execution: ExecutionDetail, journal: Journal): ExecutionView {
  const search = useSearch({ strict: false }) as PageSearch;
  const navigate = useNavigate();
  const change = (next: Record<string, unknown>) =>
    void navigate({ to: '.', replace: true, search: (before: Record<string, unknown>) => ({ ...before, ...next }) });
  const at = search.at === undefined ? undefined : Math.max(0, Number(search.at) || 0);
  const graph = useMemo(() => graphOf(foldTo(journal, at)), [journal, at]);
  return {
    execution,
    journal,
    graph,
    at,
    node: search.node,
    attempt: search.attempt === undefined ? undefined : Number(search.attempt),
    select: (node, attempt) => change({ node, attempt }),
    travel: (to) => change({ at: to }),
  };
}

function ExecutionShown({ execution, journal }: { readonly execution: ExecutionDetail; readonly journal: Journal }) {
  const search = useSearch({ strict: false }) as PageSearch;
  const view = useView(execution, journal);
  const tab = TABS.find((each) => each === search.tab) ?? 'graph';
  const relatedCount = (execution.children?.length ?? 0) + (execution.resources?.length ?? 0);
  return (
    <Page
      fill
      title={`${execution.workflowId} ${execution.executionId.slice(0, 8)}`}
      head={<ExecutionTitle view={view} />}
      detail={<OriginLine execution={execution} />}
      actions={<ExecutionActions view={view} />}
    >
      <CauseBanner view={view} />
      <div className="flex min-h-0 flex-1 flex-col gap-4 lg:flex-row">
        <div className="panel flex min-h-80 min-w-0 flex-1 flex-col overflow-hidden">
          <div className="px-2">
            <TabLinks
              label="Views of the execution"
              current={tab}
              tabs={TABS.map((id) => ({
                id,
                label: id === 'children' && relatedCount > 0 ? `Related ${relatedCount}` : TITLES[id],
              }))}
            />
          </div>
          <div className="flex min-h-0 flex-1 flex-col overflow-auto">
            <TabBody tab={tab} view={view} />
          </div>
          {SCRUBBED.has(tab) && <Scrubber view={view} />}
        </div>
        {search.node !== undefined && <NodePanel view={view} />}
      </div>
    </Page>
  );
}

/** Views of a moment; the others are of the whole. */
const SCRUBBED: ReadonlySet<TabId> = new Set(['graph', 'timeline', 'events']);

const TITLES: Readonly<Record<TabId, string>> = {
  graph: 'Graph',
  timeline: 'Timeline',
  events: 'Events',
  data: 'Data',
  children: 'Related',
  json: 'JSON',
};

function TabBody({ tab, view }: { readonly tab: TabId; readonly view: ExecutionView }) {
  switch (tab) {
    case 'graph':
      return <GraphTab view={view} />;
    case 'timeline':
      return <TimelineTab view={view} />;
    case 'events':
      return <EventsTab view={view} />;
    case 'data':
      return <DataTab view={view} />;
    case 'children':
      return <ChildrenTab view={view} />;
    case 'json':
      return <JsonTab view={view} />;
  }
}
