// Executions: lists, and one of them.

import { keepPreviousData, type QueryClient, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { ExecutionWithIncludesJson } from '../../../src/protocol/answer.ts';
import type { EventJson } from '../../../src/protocol/execution.ts';
import type { ExecutionRowJson } from '../../../src/protocol/execution-list.ts';
import type { NodeDetailJson } from '../../../src/protocol/journal.ts';
import type { ExecutionListQuery } from '../../../src/sdk/executions.ts';
import { type ExecutionFilter, queryOfFilter } from '../model/execution-filter.ts';
import { isEnded } from '../model/status.ts';
import { pawl } from './client.ts';
import { useBeat } from './live.ts';

export type { EventJson };
export type ExecutionDetail = ExecutionWithIncludesJson;

const PAGE_SIZE = 50;
const LIST_EVERY_MS = 4_000;
/** Log lines of a running attempt; its facts come through the journal's stream. */
const LOG_EVERY_MS = 2_000;
/** Data without facts: the journal's stream says when there is something to read. */
const LIVE_EVERY_MS = 15_000;

const listQuery = (filter: ExecutionFilter): ExecutionListQuery => ({
  ...(queryOfFilter(filter, Date.now()) as ExecutionListQuery),
  limit: PAGE_SIZE,
});

/** The rows as of opening the list, page by page: nothing moves by itself. */
export function useExecutionList(filter: ExecutionFilter) {
  return useInfiniteQuery({
    queryKey: ['executions', filter],
    queryFn: ({ pageParam }) =>
      pawl.executions.rows({ ...listQuery(filter), ...(pageParam === undefined ? {} : { cursor: pageParam }) }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
  });
}

/** Of one workflow, with the outcomes of its nodes: the server folds at most fifty journals for it. */
export function useWorkflowExecutions(workflowId: string) {
  return useQuery({
    queryKey: ['executions', 'of', workflowId],
    queryFn: async () => (await pawl.executions.rows({ workflowId, limit: PAGE_SIZE, include: ['nodes'] })).data,
    placeholderData: keepPreviousData,
    refetchInterval: useBeat(LIST_EVERY_MS),
  });
}

/** The newest page, refreshed: new rows, and changes of shown rows. */
export function useNewestExecutions(filter: ExecutionFilter) {
  return useQuery({
    queryKey: ['executions-newest', filter],
    queryFn: () => pawl.executions.rows(listQuery(filter)),
    refetchInterval: useBeat(LIST_EVERY_MS),
  });
}

const LATEST = 6;

/** The newest of all, for the overview. */
export function useLatestExecutions() {
  return useQuery({
    queryKey: ['executions', 'latest'],
    queryFn: async () => (await pawl.executions.rows({ limit: LATEST })).data,
    refetchInterval: useBeat(LIST_EVERY_MS),
  });
}

export function showNewest(client: QueryClient, filter: ExecutionFilter): Promise<void> {
  client.setQueryData(['executions', filter], (before: { pages: unknown[]; pageParams: unknown[] } | undefined) =>
    before === undefined ? before : { pages: before.pages.slice(0, 1), pageParams: before.pageParams.slice(0, 1) },
  );
  return client.invalidateQueries({ queryKey: ['executions', filter] });
}

export function useExecution(id: string) {
  return useQuery({
    queryKey: ['execution', id],
    queryFn: () => pawl.executions.get(id, { include: ['resources', 'children'], limit: 200 }),
    refetchInterval: ({ state }) => (state.data !== undefined && isEnded(state.data.status) ? false : LIVE_EVERY_MS),
  });
}

/** Every output of every node, only on request. */
export function useOutputs(id: string) {
  return useQuery({
    queryKey: ['execution', id, 'outputs'],
    queryFn: async () => (await pawl.executions.get(id, { include: ['actions'], limit: 1_000 })).actions ?? [],
  });
}

/** The data of a workflow's newest execution, as expressions saw it: its trigger and the outputs of its nodes. */
export function useLastData(workflowId: string, format: string): Readonly<Record<string, unknown>> {
  const { data } = useQuery({
    queryKey: ['executions', 'last', workflowId],
    queryFn: async () => {
      const [newest] = (await pawl.executions.rows({ workflowId, limit: 1 })).data;
      return newest === undefined
        ? null
        : pawl.executions.get(newest.executionId, { include: ['actions'], limit: 200 });
    },
    staleTime: 60_000,
    retry: false,
  });
  if (data === undefined || data === null) return {};
  const given = (data.actions ?? []).filter(({ outputs }) => outputs !== undefined);
  const byNode = Object.fromEntries(given.map(({ nodeId, outputs }) => [nodeId, outputs]));
  if (format === 'pipeline') return { trigger: data.trigger, tasks: byNode };
  if (format === 'plan') return { inputs: data.trigger, steps: byNode };
  return { trigger: data.trigger, spec: data.spec ?? {}, context: { data: byNode } };
}

export function useNodeDetail(id: string, nodeId: string, isLive: boolean) {
  return useQuery({
    queryKey: ['execution', id, 'node', nodeId],
    queryFn: () => pawl.executions.node(id, nodeId),
    refetchInterval: isLive ? LOG_EVERY_MS : false,
  });
}

const MAX_EVENTS = 50_000;

export function useExecutionEvents(id: string, isLive: boolean) {
  return useQuery({
    queryKey: ['execution', id, 'events'],
    queryFn: async () => {
      const events = [];
      for (let after = -1; ; ) {
        const page = await pawl.executions.eventPage(id, { after, limit: 1_000 });
        events.push(...page.data);
        if (page.nextCursor === undefined || events.length >= MAX_EVENTS) return events;
        after = Number(page.nextCursor);
      }
    },
    refetchInterval: isLive ? LOG_EVERY_MS : false,
  });
}

export type NodeDetail = NodeDetailJson;
export type ExecutionRow = ExecutionRowJson;

export function useArtifacts(id: string) {
  return useQuery({
    queryKey: ['execution', id, 'artifacts'],
    queryFn: async () => (await pawl.executions.artifacts(id, { limit: 200 })).data,
  });
}

export const artifactBytes = async (artifactId: string): Promise<Blob> =>
  (await pawl.executions.artifact(artifactId)).blob();

const MOST_OTHERS = 100;

/** Other executions of the same workflow that failed at the same node with the same code, at most a hundred. */
export function useFailedAlike(
  { executionId, workflowId }: { readonly executionId: string; readonly workflowId: string },
  failure: { readonly nodeId: string; readonly code: string } | undefined,
): readonly string[] {
  const { data } = useQuery({
    queryKey: ['executions', 'alike', workflowId, failure],
    queryFn: async () => {
      const query = { workflowId, status: ['Failed', 'TimedOut'], error: failure!.code, limit: 200 } as const;
      return (await pawl.executions.rows(query)).data;
    },
    enabled: failure !== undefined,
  });
  return (data ?? [])
    .filter((row) => row.executionId !== executionId && row.error?.nodeId === failure?.nodeId)
    .map((row) => row.executionId)
    .slice(0, MOST_OTHERS);
}

const MOST_IDS = 10_000;

/** The ids of all matches, up to ten thousand. */
export async function exportIds(filter: ExecutionFilter): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ids.length < MOST_IDS; ) {
    const query = { ...listQuery(filter), limit: 200, ...(cursor === undefined ? {} : { cursor }) };
    const page = await pawl.executions.rows(query);
    ids.push(...page.data.map(({ executionId }) => executionId));
    if (page.nextCursor === undefined) return ids;
    cursor = page.nextCursor;
  }
  return ids;
}
