// Open callbacks: who waits for what, since when, until when.

import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { pawl } from './client.ts';
import { useBeat } from './live.ts';

const EVERY_MS = 5_000;

export function useWaits(workflowId: string | undefined) {
  return useInfiniteQuery({
    queryKey: ['waits', workflowId ?? ''],
    queryFn: ({ pageParam }) =>
      pawl.executions.waits({
        limit: 50,
        ...(workflowId === undefined ? {} : { workflowId }),
        ...(pageParam === undefined ? {} : { cursor: pageParam }),
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
    refetchInterval: useBeat(EVERY_MS),
  });
}
