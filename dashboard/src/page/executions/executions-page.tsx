// Executions: a list that can be filtered, scrolled without end and worked on with the keyboard. New ones wait behind a button
// unless the reader is at the top; no row moves under the pointer.

import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { Page } from '../../component/page.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { useExecutionList } from '../../data/executions.ts';
import { type ExecutionFilter, filterOfSearch, isEmptyFilter, searchOfFilter } from '../../model/execution-filter.ts';
import { ExecutionList } from './execution-list.tsx';
import { FilterBar } from './filter-bar.tsx';
import { ViewTabs } from './view-tabs.tsx';

export function ExecutionsPage() {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const filter = filterOfSearch(search);
  const navigate = useNavigate();
  const setFilter = useCallback(
    (next: ExecutionFilter) => void navigate({ to: '.', search: searchOfFilter(next), replace: true }),
    [navigate],
  );
  const list = useExecutionList(filter);
  return (
    <Page title="Executions" fill actions={<ViewTabs filter={filter} onChoose={setFilter} />}>
      <FilterBar filter={filter} onChange={setFilter} />
      <Answered query={list} what="the executions" rows={12}>
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data);
          const searchedTo = pages.at(-1)?.searchedTo;
          if (rows.length === 0 && searchedTo === undefined) return <NoExecutions filter={filter} />;
          return (
            <ExecutionList
              rows={rows}
              filter={filter}
              hasMore={list.hasNextPage}
              searchedTo={searchedTo}
              isLoadingMore={list.isFetchingNextPage}
              onMore={() => void list.fetchNextPage()}
            />
          );
        }}
      </Answered>
    </Page>
  );
}

function NoExecutions({ filter }: { readonly filter: ExecutionFilter }) {
  if (isEmptyFilter(filter)) {
    return (
      <Empty title="Nothing has run yet">
        Start a workflow from its page, by a trigger, or with <code className="font-mono">pawl start</code>.
      </Empty>
    );
  }
  return <Empty title="No execution matches these filters">Remove one of them, or look at a longer time.</Empty>;
}
