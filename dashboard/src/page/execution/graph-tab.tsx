// The graph of the execution, and the same as a list: first on a narrow screen and for very large plans.

import { List, Workflow } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { progressTexts } from '../../../../src/protocol/step-text.ts';
import { Button } from '../../component/button.tsx';
import { Skeleton } from '../../component/state.tsx';
import { Status } from '../../component/status.tsx';
import { Took } from '../../component/time.tsx';
import { asideEdges, joinText } from '../../model/aside.ts';
import { endedLoopText } from '../../model/loop.ts';
import { skipReason } from '../../model/skip-reason.ts';
import { clipped, plural } from '../../model/text.ts';
import type { ExecutionView, GraphNodeJson } from './execution-view.ts';

const PlanGraph = lazy(async () => ({ default: (await import('../../graph/plan-graph.tsx')).PlanGraph }));

/** Beyond this a picture helps nobody at first sight. */
const LIST_FIRST = 300;

export function GraphTab({ view }: { readonly view: ExecutionView }) {
  const { nodes, edges } = view.graph;
  const [asList, setAsList] = useState(() => nodes.length > LIST_FIRST || matchMedia('(max-width: 767px)').matches);
  if (nodes.length === 0) return <Skeleton />;
  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      <div className="absolute top-2 right-2 z-10">
        <Button
          small
          onClick={() => setAsList(!asList)}
          icon={asList ? <Workflow className="size-3.5" /> : <List className="size-3.5" />}
        >
          {asList ? 'Graph' : 'List'}
        </Button>
      </div>
      {asList ? (
        <NodeList view={view} />
      ) : (
        <Suspense fallback={<Skeleton />}>
          <PlanGraph
            label={`Graph of ${plural(nodes.length, 'node')}`}
            nodes={nodes.map((node) => ({ ...node, note: noteOf(node, view) }))}
            edges={[
              ...edges.map((edge) => ({ ...edge, hint: edge.state === 'unsatisfied' ? hintOf(edge) : undefined })),
              ...asideEdges(nodes, edges),
            ]}
            selected={view.node}
            onSelect={(id) => view.select(id)}
          />
        </Suspense>
      )}
    </div>
  );
}

function noteOf(node: GraphNodeJson, view: ExecutionView): string | undefined {
  const { error, attempts, status, waits, items, rounds } = node;
  const skipped = skipReason(view.graph, node.id);
  if (skipped !== undefined) return `skipped: ${skipped}`;
  if (error !== undefined) return `${error.code}: ${error.message}`;
  const texts = progressTexts(node);
  const step = view.journal.plan.nodes.find(({ id }) => id === node.id)?.step;
  if (step?.kind === 'end' && status === 'Succeeded') texts.push(`ended it as ${step.status}`);
  if (items === undefined && rounds === undefined) {
    const told = waits ?? endedLoopText(view.journal, node.id, view.at) ?? joinText(view.journal.plan, node.id);
    if (told !== undefined) texts.push(told);
  }
  if (texts.length > 0) return texts.join(', ');
  return attempts > 1 && status !== 'Pending' ? `attempt ${attempts}` : undefined;
}

const hintOf = ({ when, condition }: { readonly when: string; readonly condition?: string | undefined }): string =>
  condition === undefined ? `not taken (${when})` : `not taken: ${condition}`;

function NodeList({ view }: { readonly view: ExecutionView }) {
  return (
    <ul className="divide-y pt-10 md:pt-9" aria-label="Nodes">
      {view.graph.nodes.map((node) => (
        <li key={node.id} style={{ contentVisibility: 'auto', containIntrinsicSize: 'auto 48px' }}>
          <button
            type="button"
            onClick={() => view.select(node.id)}
            aria-current={node.id === view.node}
            className="grid min-h-12 w-full grid-cols-[minmax(0,1fr)_max-content] items-center gap-x-3 gap-y-0.5 px-4 py-1.5 text-left hover:bg-hover aria-[current=true]:bg-accent-soft md:grid-cols-[7rem_minmax(8rem,1fr)_minmax(7rem,1fr)_5rem_minmax(8rem,2fr)]"
          >
            <span className="max-md:order-1 max-md:justify-self-end">
              <Status status={node.status} as="line" />
            </span>
            <span className="font-medium wrap-anywhere">{clipped(node.id, 80)}</span>
            <span className="text-xs text-faint max-md:order-2">{node.type}</span>
            <span className="text-xs text-muted max-md:order-3 max-md:justify-self-end">
              {node.startedAt !== undefined && <Took from={node.startedAt} to={node.completedAt} />}
            </span>
            <span className="col-span-full text-xs wrap-anywhere text-muted max-md:order-4 md:col-auto">
              {noteOf(node, view)}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
