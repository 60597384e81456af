// Everything that was recorded, newest last, to be searched and scrolled however long it is.

import { useVirtualizer } from '@tanstack/react-virtual';
import { useContext, useMemo, useRef, useState } from 'react';
import { JsonTree } from '../../component/json-tree.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Time, ZoneContext } from '../../component/time.tsx';
import { type EventJson, useExecutionEvents } from '../../data/executions.ts';
import { type EventFilter, eventTypes, filterEvents } from '../../model/event-filter.ts';
import { eventText } from '../../model/event-text.ts';
import { isEnded } from '../../model/status.ts';
import { clipped, plural } from '../../model/text.ts';
import { clockText } from '../../model/time.ts';
import type { ExecutionView } from './execution-view.ts';

const ROW = 30;

export function EventsTab({ view }: { readonly view: ExecutionView }) {
  const events = useExecutionEvents(view.execution.executionId, !isEnded(view.execution.status));
  return (
    <Answered query={events} what="the events">
      {(data) => (
        <EventList events={view.at === undefined ? data : data.filter(({ seq }) => seq < view.at!)} view={view} />
      )}
    </Answered>
  );
}

function EventList({ events, view }: { readonly events: readonly EventJson[]; readonly view: ExecutionView }) {
  const [filter, setFilter] = useState<EventFilter>({});
  const [open, setOpen] = useState<number | null>(null);
  const shown = useMemo(() => filterEvents(events, filter), [events, filter]);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <EventFilters events={events} filter={filter} onChange={setFilter} count={shown.length} />
      <div
        ref={scroller}
        className="min-h-0 flex-1 overflow-y-auto"
        role="log"
        aria-label="Events"
        aria-live="off"
        tabIndex={0}
      >
        {shown.length === 0 && <Empty title="No event matches" />}
        <div className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start, key }) => (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start}px)` }}
            >
              <EventRow
                event={shown[index]!}
                isOpen={open === index}
                onToggle={() => setOpen(open === index ? null : index)}
                onNode={(node) => view.select(node)}
              />
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

interface EventFiltersProps {
  readonly events: readonly EventJson[];
  readonly filter: EventFilter;
  readonly onChange: (next: EventFilter) => void;
  readonly count: number;
}

function EventFilters({ events, filter, onChange, count }: EventFiltersProps) {
  return (
    <div className="flex flex-wrap items-center gap-2 border-b px-3 py-2">
      <input
        type="search"
        className="field w-44"
        placeholder="Text"
        aria-label="Text in the event"
        value={filter.text ?? ''}
        onChange={({ target }) => onChange({ ...filter, text: target.value })}
      />
      <select
        className="field"
        aria-label="Type"
        value={filter.type ?? ''}
        onChange={({ target }) => onChange({ ...filter, type: target.value })}
      >
        <option value="">Every type</option>
        {eventTypes(events).map((type) => (
          <option key={type}>{type}</option>
        ))}
      </select>
      <select
        className="field"
        aria-label="Level"
        value={filter.level ?? ''}
        onChange={({ target }) => onChange({ ...filter, level: target.value })}
      >
        <option value="">Every level</option>
        <option value="Warn">Warnings and errors</option>
        <option value="Error">Errors</option>
      </select>
      <span className="ml-auto text-xs text-muted">{plural(count, 'event')}</span>
    </div>
  );
}

const LEVELS: Readonly<Record<string, string>> = {
  Error: 'text-bad',
  Warn: 'text-warn',
};

interface EventRowProps {
  readonly event: EventJson;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly onNode: (node: string) => void;
}

function EventRow({ event, isOpen, onToggle, onNode }: EventRowProps) {
  const { seq, ts, level, type, nodeId, data } = event;
  const zone = useContext(ZoneContext);
  const clock = (iso: string) => clockText(Date.parse(iso), Date.parse(ts), zone);
  return (
    <div className="border-b">
      <div className="flex min-h-7.5 items-center gap-3 px-3 font-mono text-xs hover:bg-hover">
        <button
          type="button"
          onClick={onToggle}
          aria-expanded={isOpen}
          className="tabular w-10 shrink-0 text-right text-faint hover:text-text"
          aria-label={`Details of event ${seq}`}
        >
          {seq}
        </button>
        <span className="hidden shrink-0 text-faint sm:block">
          <Time at={ts} as="precise" />
        </span>
        <span className={`shrink-0 font-medium ${LEVELS[level] ?? ''}`}>{type}</span>
        {nodeId !== undefined && (
          <button type="button" className="link shrink-0" onClick={() => onNode(nodeId)}>
            {clipped(nodeId, 40)}
          </button>
        )}
        <span className="min-w-0 truncate font-sans text-muted">{clipped(eventText(data, clock), 300)}</span>
      </div>
      {isOpen && (
        <div className="bg-sunken px-4 py-2">
          <JsonTree value={data} label="the event's data" />
        </div>
      )}
    </div>
  );
}
