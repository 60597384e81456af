// What the overview shows beside the live stream: how many executions match a filter, up to a thousand.

import { useQuery } from '@tanstack/react-query';
import { type ExecutionFilter, queryOfFilter } from '../model/execution-filter.ts';
import { pawl } from './client.ts';
import { useBeat } from './live.ts';

const EVERY_MS = 10_000;

export interface Tally {
  readonly count: number;
  readonly isCapped: boolean;
}

export function useTally(filter: ExecutionFilter, isAsked = true): Tally | undefined {
  const { data } = useQuery({
    queryKey: ['tally', filter],
    queryFn: async (): Promise<Tally> => {
      const query = { ...queryOfFilter(filter, Date.now()), count: true, limit: 1 };
      const { total } = await pawl.executions.rows(query);
      return total ?? { count: 0, isCapped: false };
    },
    refetchInterval: useBeat(EVERY_MS),
    enabled: isAsked,
  });
  return data;
}
