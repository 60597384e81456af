// A plan as a picture: nodes with their status, edges that were taken bold, those that were not dashed. Only what is on the
// screen is drawn. The keyboard walks the nodes; beside it there is always a list with the same content.

import {
  BaseEdge,
  Controls,
  type Edge,
  EdgeLabelRenderer,
  type EdgeProps,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { useMemo } from 'react';
import { StatusIconOf } from '../component/status.tsx';
import { statusLook, type Tone } from '../model/status.ts';
import { clipped } from '../model/text.ts';
import { NODE_HEIGHT, NODE_WIDTH, placeGraph } from './plan-layout.ts';

export interface GraphNode {
  readonly id: string;
  readonly type: string;
  /** Absent in a definition, which has not run. */
  readonly status?: string;
  readonly note?: string | undefined;
  readonly isWrong?: boolean;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly when: string;
  readonly condition?: string | undefined;
  readonly state?: 'pending' | 'satisfied' | 'unsatisfied';
  /** Leads to what undoes a node or cleans up at last: no edge of the plan. */
  readonly isAside?: boolean;
  /** What is said of it when it is pointed at. */
  readonly hint?: string | undefined;
}

interface PlanGraphProps {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly selected?: string | undefined;
  readonly onSelect: (id: string) => void;
  readonly label: string;
}

type Box = Node<{ node: GraphNode; isSelected: boolean }, 'plan'>;
type Line = Edge<{ edge: GraphEdge; path: string; x: number; y: number }, 'plan'>;

const NODE_TYPES = { plan: PlanNodeBox };
const EDGE_TYPES = { plan: PlanEdgeLine };

export function PlanGraph({ nodes, edges, selected, onSelect, label }: PlanGraphProps) {
  const shape = JSON.stringify([nodes.map(({ id }) => id), edges.map(({ from, to }) => [from, to])]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the places depend on the shape alone, not on statuses
  const placed = useMemo(
    () =>
      placeGraph(
        nodes.map(({ id }) => id),
        edges,
      ),
    [shape],
  );
  const boxes = nodes.map(
    (node, index): Box => ({
      id: node.id,
      type: 'plan',
      position: placed.nodes[index]!,
      data: { node, isSelected: node.id === selected },
      width: NODE_WIDTH,
      height: NODE_HEIGHT,
      draggable: false,
      connectable: false,
      ariaLabel: `${node.id}, ${node.type}${node.status === undefined ? '' : `, ${statusLook(node.status).word}`}`,
    }),
  );
  const lines = edges.map(
    (edge, index): Line => ({
      id: `${index}`,
      type: 'plan',
      source: edge.from,
      target: edge.to,
      focusable: false,
      data: { edge, path: placed.edges[index]!.path, ...placed.edges[index]!.middle },
    }),
  );
  return (
    <div className="h-full min-h-64 w-full" role="figure" aria-label={label}>
      <ReactFlow
        key={shape}
        nodes={boxes}
        edges={lines}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        fitView
        fitViewOptions={{ maxZoom: 1, minZoom: 0.35, padding: 0.12 }}
        minZoom={0.05}
        maxZoom={1.6}
        onlyRenderVisibleElements
        nodesConnectable={false}
        nodesDraggable={false}
        elementsSelectable={false}
        nodesFocusable
        zoomOnDoubleClick={false}
        onNodeClick={(_, { id }) => onSelect(id)}
        onKeyDown={(event) => {
          const id = (event.target as HTMLElement).dataset?.id;
          if ((event.key === 'Enter' || event.key === ' ') && id !== undefined) onSelect(id);
        }}
        proOptions={{ hideAttribution: true }}
        attributionPosition="bottom-left"
      >
        <Controls
          showInteractive={false}
          position="bottom-right"
          className="overflow-hidden rounded-md border bg-raised [&_button]:flex [&_button]:size-7 [&_button]:items-center [&_button]:justify-center [&_button]:border-b [&_button]:hover:bg-hover [&_button:last-child]:border-b-0 [&_svg]:size-3 [&_svg]:fill-text"
        />
      </ReactFlow>
    </div>
  );
}

const BAR: Readonly<Record<Tone, string>> = {
  ok: 'bg-ok-solid',
  bad: 'bg-bad-solid',
  warn: 'bg-warn-solid',
  run: 'bg-run-solid',
  wait: 'bg-wait-solid',
  idle: 'bg-idle-solid',
};

function PlanNodeBox({ data: { node, isSelected } }: NodeProps<Box>) {
  const look = node.status === undefined ? null : statusLook(node.status);
  const isDim = node.status === 'Skipped' || node.status === 'Pending';
  return (
    <div
      title={node.note}
      className={`relative flex h-full w-full items-center gap-2 overflow-hidden rounded-lg border bg-raised pr-2.5 pl-3.5 text-left shadow-sm ${
        isSelected
          ? 'border-accent! ring-2 ring-accent/40'
          : node.isWrong === true
            ? 'border-bad-solid!'
            : 'hover:border-line-strong'
      } ${isDim ? 'border-dashed' : ''}`}
    >
      <Handle type="target" position={Position.Left} className="pointer-events-none opacity-0" />
      <span
        className={`absolute inset-y-0 left-0 w-1 ${look === null ? (node.isWrong === true ? 'bg-bad-solid' : 'bg-line-strong') : BAR[look.tone]}`}
      />
      <span className="flex min-w-0 flex-1 flex-col">
        <span className="truncate text-sm font-medium">{clipped(node.id, 60)}</span>
        <span className={`truncate text-xs ${node.note === undefined ? 'text-faint' : 'text-muted'}`}>
          {clipped(node.note ?? node.type, 80)}
        </span>
      </span>
      {look !== null && <StatusIconOf look={look} className="size-4" />}
      <Handle type="source" position={Position.Right} className="pointer-events-none opacity-0" />
    </div>
  );
}

const STROKES = {
  satisfied: { stroke: 'var(--color-text)', strokeWidth: 1.8, opacity: 0.75 },
  unsatisfied: { stroke: 'var(--color-faint)', strokeWidth: 1.2, strokeDasharray: '4 4', opacity: 0.7 },
  pending: { stroke: 'var(--color-line-strong)', strokeWidth: 1.4 },
  aside: { stroke: 'var(--color-faint)', strokeWidth: 1.4, strokeDasharray: '1 5', strokeLinecap: 'round' },
} as const;

function PlanEdgeLine({ id, data }: EdgeProps<Line>) {
  const { edge, path, x, y } = data!;
  const style = STROKES[edge.isAside === true ? 'aside' : (edge.state ?? 'pending')];
  const label = edge.when === 'success' ? (edge.condition === undefined ? null : 'if') : edge.when;
  return (
    <>
      <BaseEdge id={id} path={path} style={style} />
      {label !== null && (
        <EdgeLabelRenderer>
          <span
            title={edge.hint ?? edge.condition}
            data-edge={`${edge.from}>${edge.to}`}
            className={`pointer-events-auto absolute rounded-full border bg-panel px-1.5 text-2xs ${edge.when === 'failure' ? 'text-bad' : 'text-muted'}`}
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
          >
            {label}
          </span>
        </EdgeLabelRenderer>
      )}
    </>
  );
}
