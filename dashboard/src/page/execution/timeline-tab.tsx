// The timeline: what each node spent queued, at work, resting and between tries, from true times. A part of it is looked at closely by
// drawing over the axis; the execution that a node started is opened in its place.

import { ChevronDown, ChevronRight } from 'lucide-react';
import { useMemo, useState } from 'react';
import { IconButton } from '../../component/button.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { useNow } from '../../component/time.tsx';
import { useExecution } from '../../data/executions.ts';
import { useJournal } from '../../data/journal.ts';
import { attemptsOf, foldTo, graphOf } from '../../model/journal.ts';
import { isEnded } from '../../model/status.ts';
import { clipped } from '../../model/text.ts';
import { durationText, timeOf } from '../../model/time.ts';
import { placeOf, type Segment, type SegmentKind, type Span, timelineOf } from '../../model/waterfall.ts';
import type { ExecutionView } from './execution-view.ts';
import { TimelineAxis } from './timeline-axis.tsx';

const LOOKS: Readonly<Record<SegmentKind, { readonly className: string; readonly word: string }>> = {
  queued: { className: 'bg-idle-solid/50', word: 'queued' },
  ran: { className: 'bg-ok-solid', word: 'ran' },
  rest: { className: 'bg-wait-solid/70', word: 'slept or waited' },
  backoff: {
    className: 'bg-[repeating-linear-gradient(90deg,var(--color-warn-solid)_0_3px,transparent_3px_7px)]',
    word: 'until the next try',
  },
  failed: { className: 'bg-bad-solid', word: 'failed' },
};

type Shown = Pick<ExecutionView, 'execution' | 'graph' | 'journal' | 'at'>;

function useTimeline({ execution, graph, journal, at }: Shown) {
  const now = useNow(isEnded(execution.status) ? null : 1_000);
  return useMemo(
    () =>
      timelineOf(
        {
          nodes: graph.nodes,
          attempts: attemptsOf(journal, at),
          createdAt: Date.parse(execution.createdAt),
          endedAt: timeOf(execution.completedAt),
        },
        now,
      ),
    [execution, graph, journal, at, now],
  );
}

export function TimelineTab({ view }: { readonly view: ExecutionView }) {
  const timeline = useTimeline(view);
  const [zoom, setZoom] = useState<Span | null>(null);
  const span = zoom ?? timeline;
  if (timeline.rows.length === 0) return <Empty title="Nothing has started yet" />;
  return (
    <div className="flex flex-col">
      <TimelineAxis whole={timeline} span={span} onZoom={setZoom} />
      <ul aria-label="Timeline">
        {timeline.rows.map(({ nodeId, segments }) => (
          <TimelineRow
            key={nodeId}
            nodeId={nodeId}
            segments={segments}
            span={span}
            depth={0}
            isCurrent={nodeId === view.node}
            childId={view.graph.nodes.find(({ id }) => id === nodeId)?.childExecutionId}
            onSelect={() => view.select(nodeId)}
          />
        ))}
      </ul>
      <Legend />
    </div>
  );
}

interface TimelineRowProps {
  readonly nodeId: string;
  readonly segments: readonly Segment[];
  readonly span: Span;
  readonly depth: number;
  readonly isCurrent: boolean;
  /** The execution that the node started. */
  readonly childId: string | undefined;
  readonly onSelect: (() => void) | undefined;
}

function TimelineRow({ nodeId, segments, span, depth, isCurrent, childId, onSelect }: TimelineRowProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <div className={`flex h-8 items-center ${isCurrent ? 'bg-accent-soft' : 'hover:bg-hover'}`}>
        <span className="flex w-32 shrink-0 items-center pl-2 md:w-52" style={{ paddingLeft: 8 + 16 * depth }}>
          {childId === undefined ? (
            <span className="w-6 shrink-0" />
          ) : (
            <IconButton
              label={
                isOpen
                  ? `Close the execution of ${clipped(nodeId, 40)}`
                  : `Open the execution of ${clipped(nodeId, 40)} here`
              }
              onClick={() => setOpen(!isOpen)}
              className="size-6! shrink-0"
            >
              {isOpen ? <ChevronDown className="size-3.5" /> : <ChevronRight className="size-3.5" />}
            </IconButton>
          )}
          <span className="truncate" title={clipped(nodeId, 300)}>
            {clipped(nodeId, 60)}
          </span>
        </span>
        <button
          type="button"
          onClick={onSelect}
          disabled={onSelect === undefined}
          aria-current={isCurrent}
          aria-label={`Node ${clipped(nodeId, 60)}`}
          className="flex h-full min-w-0 flex-1 items-center"
        >
          <span className="relative h-full flex-1 overflow-hidden">
            {segments.map((segment) => (
              <Bar key={`${segment.kind} ${segment.attempt}`} segment={segment} span={span} />
            ))}
          </span>
          <span className="tabular w-20 shrink-0 px-3 text-right text-xs text-muted">
            {durationText(ranFor(segments))}
          </span>
        </button>
      </div>
      {isOpen && childId !== undefined && depth < DEEPEST && <ChildRows id={childId} span={span} depth={depth + 1} />}
    </li>
  );
}

const DEEPEST = 6;

/** The rows of an execution that a node started, on the same scale. */
function ChildRows({ id, span, depth }: { readonly id: string; readonly span: Span; readonly depth: number }) {
  const execution = useExecution(id);
  const journal = useJournal(id);
  return (
    <Answered query={execution} what="the execution" rows={2}>
      {(data) => (
        <Answered query={journal} what="the journal" rows={2}>
          {(facts) => (
            <ChildTimeline
              shown={{ execution: data, journal: facts, graph: graphOf(foldTo(facts)), at: undefined }}
              span={span}
              depth={depth}
            />
          )}
        </Answered>
      )}
    </Answered>
  );
}

interface ChildTimelineProps {
  readonly shown: Shown;
  readonly span: Span;
  readonly depth: number;
}

function ChildTimeline({ shown, span, depth }: ChildTimelineProps) {
  const { rows } = useTimeline(shown);
  return (
    <ul aria-label={`Timeline of ${clipped(shown.execution.workflowId, 60)}`} className="border-y bg-sunken/40">
      {rows.map(({ nodeId, segments }) => (
        <TimelineRow
          key={nodeId}
          nodeId={nodeId}
          segments={segments}
          span={span}
          depth={depth}
          isCurrent={false}
          childId={shown.graph.nodes.find((node) => node.id === nodeId)?.childExecutionId}
          onSelect={undefined}
        />
      ))}
    </ul>
  );
}

const ranFor = (segments: readonly Segment[]): number => (segments.at(-1)?.to ?? 0) - (segments[0]?.from ?? 0);

function Bar({ segment, span }: { readonly segment: Segment; readonly span: Span }) {
  const { left, width } = placeOf(segment, span);
  const { className, word } = LOOKS[segment.kind];
  const thin = segment.kind === 'backoff' || segment.kind === 'queued';
  const text = `attempt ${segment.attempt}: ${word} ${durationText(segment.to - segment.from)}`;
  if (segment.to < span.from || segment.from > span.to) return null;
  return (
    <span
      title={text}
      className={`absolute top-1/2 min-w-0.5 -translate-y-1/2 rounded-xs ${thin ? 'h-1' : 'h-3.5'} ${className} ${segment.isOpen ? 'animate-breathe' : ''}`}
      style={{ left: `${left}%`, width: `${width}%` }}
    >
      <span className="sr-only">{text}</span>
    </span>
  );
}

function Legend() {
  return (
    <ul className="flex flex-wrap gap-4 px-4 py-3 text-xs text-muted" aria-label="Legend">
      {Object.entries(LOOKS).map(([kind, { className, word }]) => (
        <li key={kind} className="flex items-center gap-1.5">
          <span className={`h-2.5 w-4 rounded-xs ${className}`} aria-hidden="true" />
          {word}
        </li>
      ))}
    </ul>
  );
}
