// A machine as a picture in SVG: states with how many instances are in each, arrows with their events. A state is a button.

import { layOutLayers } from '../../../src/core/layout/layered.ts';
import type { MachineArrow, MachineGraph } from '../model/machine-graph.ts';
import { clipped } from '../model/text.ts';

interface MachineDiagramProps {
  readonly graph: MachineGraph;
  readonly counts?: Readonly<Record<string, string>>;
  readonly current?: string | undefined;
  readonly onSelect?: ((state: string) => void) | undefined;
}

const WIDTH = 150;
const HEIGHT = 46;
const MARGIN = 24;
const LOOP = 34;

export function MachineDiagram({ graph, counts = {}, current, onSelect }: MachineDiagramProps) {
  const { states, arrows } = graph;
  const index = new Map(states.map(({ name }, at) => [name, at]));
  const arcs = arrows.map(({ from, to }) => ({ from: index.get(from) ?? 0, to: index.get(to) ?? 0 }));
  const layout = layOutLayers(
    states.map(() => ({ width: WIDTH, height: HEIGHT + LOOP })),
    arcs,
    { column: 110, item: 26 },
  );
  const at = (node: number) => ({ x: layout.nodes[node]!.x + MARGIN, y: layout.nodes[node]!.y + MARGIN });
  return (
    <div className="flex overflow-x-auto p-2">
      <svg
        viewBox={`0 0 ${layout.width + 2 * MARGIN} ${layout.height + 2 * MARGIN}`}
        className="mx-auto h-auto min-w-lg"
        style={{ width: layout.width + 2 * MARGIN }}
        role="group"
        aria-label="States and transitions"
      >
        <defs>
          <marker
            id="arrowhead"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto-start-reverse"
          >
            <path d="M0 0 8 4 0 8z" className="fill-faint" />
          </marker>
        </defs>
        {arrows.map((arrow, arc) => (
          <ArrowLine
            key={`${arrow.from}>${arrow.to}`}
            arrow={arrow}
            from={at(arcs[arc]!.from)}
            to={at(arcs[arc]!.to)}
          />
        ))}
        {states.map(({ name, isFinal, isInitial }, node) => {
          const { x, y } = at(node);
          const isCurrent = name === current;
          return (
            <foreignObject key={name} x={x - WIDTH / 2} y={y - HEIGHT / 2} width={WIDTH} height={HEIGHT}>
              <button
                type="button"
                onClick={() => onSelect?.(name)}
                aria-pressed={isCurrent}
                className={`flex h-full w-full flex-col items-center justify-center rounded-lg border bg-raised px-2 ${isFinal ? 'border-[3px] border-double' : ''} ${
                  isCurrent ? 'border-accent! text-accent' : 'hover:border-line-strong'
                }`}
              >
                <span className="max-w-full truncate font-medium">
                  {isInitial && <span aria-hidden="true">● </span>}
                  {clipped(name, 40)}
                </span>
                {counts[name] !== undefined && <span className="tabular text-xs text-muted">{counts[name]}</span>}
              </button>
            </foreignObject>
          );
        })}
      </svg>
    </div>
  );
}

function ArrowLine({
  arrow,
  from,
  to,
}: {
  readonly arrow: MachineArrow;
  readonly from: { x: number; y: number };
  readonly to: { x: number; y: number };
}) {
  const label = clipped(arrow.events.join(', '), 40);
  const isLoop = arrow.from === arrow.to;
  const side = to.x > from.x ? 1 : -1;
  const start = { x: from.x + (side * WIDTH) / 2, y: from.y };
  const end = { x: to.x - (side * WIDTH) / 2, y: to.y };
  const bend = (start.x + end.x) / 2;
  const path = isLoop
    ? `M${from.x - 26},${from.y - HEIGHT / 2} c-6,-26 58,-26 52,0`
    : `M${start.x},${start.y} C${bend},${start.y} ${bend},${end.y} ${end.x},${end.y}`;
  const middle = isLoop
    ? { x: from.x, y: from.y - HEIGHT / 2 - 24 }
    : { x: bend, y: (start.y + end.y) / 2 + (start.y === end.y ? -5 : 4) };
  return (
    <g>
      <path d={path} fill="none" className="stroke-faint" strokeWidth="1.4" markerEnd="url(#arrowhead)" />
      <text
        x={middle.x}
        y={middle.y}
        textAnchor="middle"
        className="fill-muted stroke-panel stroke-[5px] text-2xs [paint-order:stroke]"
      >
        {label}
      </text>
    </g>
  );
}
