// The rows: only those on the screen exist, however many there are. `j` and `k` move, `x` selects, Enter opens.

import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowUp } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useShortcut } from '../../component/shortcut.ts';
import { Time } from '../../component/time.tsx';
import { type ExecutionRow as Row, showNewest, useNewestExecutions } from '../../data/executions.ts';
import type { ExecutionFilter } from '../../model/execution-filter.ts';
import { plural } from '../../model/text.ts';
import { BulkBar } from './bulk-bar.tsx';
import { ExecutionRow, ROW_GRID } from './execution-row.tsx';

interface ExecutionListProps {
  readonly rows: readonly Row[];
  readonly filter: ExecutionFilter;
  readonly hasMore: boolean;
  /** The search stopped here, as it had looked at enough rows for one page. */
  readonly searchedTo: string | undefined;
  readonly isLoadingMore: boolean;
  readonly onMore: () => void;
}

const ROW_HEIGHT = 40;
const CARD_HEIGHT = 84;
const AHEAD = 10;

export function ExecutionList({
  rows: listed,
  filter,
  hasMore,
  searchedTo,
  isLoadingMore,
  onMore,
}: ExecutionListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const isNarrow = useIsNarrow();
  const [cursor, setCursor] = useState(-1);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const { rows, fresh } = useFreshRows(listed, filter, scroller, selected.size);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isNarrow ? CARD_HEIGHT : ROW_HEIGHT),
    overscan: AHEAD,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && searchedTo === undefined && !isLoadingMore && last >= rows.length - AHEAD) onMore();
  }, [hasMore, searchedTo, isLoadingMore, last, rows.length, onMore]);
  const toggle = (id: string) => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    setSelected(next);
  };
  useRowKeys(
    rows,
    cursor,
    (next) => {
      setCursor(next);
      virtual.scrollToIndex(next);
    },
    toggle,
  );
  return (
    <div className="panel relative flex min-h-0 flex-1 flex-col overflow-hidden">
      <ListHead />
      {fresh.count > 0 && (
        <div className="absolute inset-x-0 top-10 z-10 flex justify-center">
          <Button small kind="primary" onClick={fresh.show} icon={<ArrowUp className="size-3.5" aria-hidden="true" />}>
            {fresh.count} new
          </Button>
        </div>
      )}
      <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto">
        <ul aria-label="Executions" className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start, size }) => (
            <ExecutionRow
              key={rows[index]!.executionId}
              execution={rows[index]!}
              style={{ transform: `translateY(${start}px)`, height: size }}
              isCurrent={index === cursor}
              isSelected={selected.has(rows[index]!.executionId)}
              onToggle={() => toggle(rows[index]!.executionId)}
            />
          ))}
        </ul>
      </div>
      <footer
        className="flex min-h-9 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-t py-1 px-4 text-xs text-muted"
        aria-live="polite"
      >
        {selected.size > 0 ? `${selected.size} selected` : plural(rows.length, 'execution')}
        <BulkBar filter={filter} selected={selected} onDone={() => setSelected(new Set())} />
        {hasMore && searchedTo === undefined && selected.size === 0 && ', more below'}
        {searchedTo !== undefined && (
          <span>
            searched back to <Time at={searchedTo} as="clock" />{' '}
            <button type="button" className="link" onClick={onMore}>
              go on
            </button>
          </span>
        )}
      </footer>
    </div>
  );
}

function ListHead() {
  return (
    <div
      className={`${ROW_GRID} hidden h-9 shrink-0 items-center border-b bg-sunken/60 px-4 text-xs font-medium text-muted md:grid`}
      aria-hidden="true"
    >
      <span />
      <span>Status</span>
      <span>Workflow</span>
      <span>Execution</span>
      <span>Created</span>
      <span>Took</span>
      <span>Where it stands</span>
    </div>
  );
}

/** Rows as they are now, in the order in which they stood; what is new is counted until it is asked for. */
function useFreshRows(
  listed: readonly Row[],
  filter: ExecutionFilter,
  scroller: { readonly current: HTMLDivElement | null },
  selectedCount: number,
) {
  const client = useQueryClient();
  const { data: newest } = useNewestExecutions(filter);
  const { rows, count } = useMemo(() => {
    const now = new Map((newest?.data ?? []).map((row) => [row.executionId, row]));
    const known = new Set(listed.map(({ executionId }) => executionId));
    const first = listed[0]?.createdAt ?? '';
    const added = [...now.values()].filter((row) => !known.has(row.executionId) && row.createdAt >= first);
    return { rows: listed.map((row) => now.get(row.executionId) ?? row), count: added.length };
  }, [listed, newest]);
  const show = () => {
    scroller.current?.scrollTo({ top: 0 });
    void showNewest(client, filter);
  };
  const isAtTop = (scroller.current?.scrollTop ?? 0) === 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of the count may show them
  useEffect(() => {
    if (count > 0 && isAtTop && selectedCount === 0 && !scroller.current?.matches(':hover')) show();
  }, [count]);
  return { rows, fresh: { count, show } };
}

function useRowKeys(
  rows: readonly Row[],
  cursor: number,
  move: (next: number) => void,
  toggle: (id: string) => void,
): void {
  const navigate = useNavigate();
  const current = rows[cursor]?.executionId;
  useShortcut('j', () => move(Math.min(rows.length - 1, cursor + 1)));
  useShortcut('k', () => move(Math.max(0, cursor - 1)));
  useShortcut('x', () => current !== undefined && toggle(current));
  useShortcut('Enter', () => {
    if (current !== undefined) void navigate({ to: '/executions/$executionId', params: { executionId: current } });
  });
}

const NARROW = '(max-width: 767px)';

function useIsNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const media = matchMedia(NARROW);
    const listen = () => setNarrow(media.matches);
    media.addEventListener('change', listen);
    return () => media.removeEventListener('change', listen);
  }, []);
  return isNarrow;
}
