// A plan as a picture: nodes with their status, taken edges bold, untaken ones dashed. Only the visible part is drawn. The
// keyboard walks the nodes; a list beside it always has the same content.

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
  type ReactFlowInstance,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import { StatusIconOf } from '../component/status.tsx';
import { statusLook, type Tone } from '../model/status.ts';
import { clipped } from '../model/text.ts';
import { NODE_HEIGHT, NODE_WIDTH, placeGraph, type Size } from './plan-layout.ts';

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
  /** Leads to a compensation or a `finally` node: not an edge of the plan. */
  readonly isAside?: boolean;
  /** The text on hover. */
  readonly hint?: string | undefined;
}

interface PlanGraphProps {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly selected?: string | undefined;
  readonly onSelect: (id: string) => void;
  readonly label: string;
}

type Box = Node<{ node: GraphNode; isSelected: boolean; isDown: boolean }, 'plan'>;
type Line = Edge<{ edge: GraphEdge; path: string; x: number; y: number }, 'plan'>;

const NODE_TYPES = { plan: PlanNodeBox };
const EDGE_TYPES = { plan: PlanEdgeLine };

/** Measured before anything is drawn, and again when it changes. */
function useRoom() {
  const box = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState<Size | null>(null);
  useLayoutEffect(() => {
    const measure = () => setRoom({ width: box.current!.clientWidth, height: box.current!.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  return { box, room };
}

const FIT = { maxZoom: 1, minZoom: 0.35, padding: 0.08 };

export function PlanGraph(props: PlanGraphProps) {
  const { box, room } = useRoom();
  return (
    <div ref={box} className="h-full min-h-64 w-full" role="figure" aria-label={props.label}>
      {room !== null && <Drawing {...props} room={room} />}
    </div>
  );
}

function Drawing({ nodes, edges, selected, onSelect, room }: PlanGraphProps & { readonly room: Size }) {
  const shape = JSON.stringify([nodes.map(({ id }) => id), edges.map(({ from, to }) => [from, to])]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the places depend on the shape and the room alone, not on statuses
  const placed = useMemo(
    () =>
      placeGraph(
        nodes.map(({ id }) => id),
        edges,
        room,
      ),
    [shape, room.width, room.height],
  );
  const flow = useRef<ReactFlowInstance<Box, Line>>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: fitted again when the room changes
  useLayoutEffect(() => {
    void flow.current?.fitView(FIT);
  }, [room.width, room.height]);
  const boxes = nodes.map(
    (node, index): Box => ({
      id: node.id,
      type: 'plan',
      position: placed.nodes[index]!,
      data: { node, isSelected: node.id === selected, isDown: placed.isDown },
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
    <ReactFlow
      key={`${shape} ${placed.isDown}`}
      onInit={(instance) => {
        flow.current = instance;
      }}
      nodes={boxes}
      edges={lines}
      nodeTypes={NODE_TYPES}
      edgeTypes={EDGE_TYPES}
      fitView
      fitViewOptions={FIT}
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

function PlanNodeBox({ data: { node, isSelected, isDown } }: NodeProps<Box>) {
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
      <Handle
        type="target"
        position={isDown ? Position.Top : Position.Left}
        className="pointer-events-none opacity-0"
      />
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
      <Handle
        type="source"
        position={isDown ? Position.Bottom : Position.Right}
        className="pointer-events-none opacity-0"
      />
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
