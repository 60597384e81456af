// Numbers over time, and failures by cause.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { FailureGroupJson, StatPointJson } from '../../../src/protocol/statistics.ts';
import { PERIODS } from '../model/execution-filter.ts';
import { pawl } from './client.ts';
import { useBeat } from './live.ts';

const EVERY_MS = 10_000;

export type StatPoint = StatPointJson;
export type FailureGroup = FailureGroupJson;

export function useStats(query: {
  readonly bucket: 'minute' | 'hour' | 'day';
  readonly workflowId?: string;
  readonly by?: 'workflow' | 'version' | 'action';
  /** How far back; absent: as far as the server goes for the bucket. */
  readonly lastMs?: number;
}) {
  return useQuery({
    queryKey: ['stats', query],
    queryFn: async () => {
      const { lastMs, ...rest } = query;
      const from = lastMs === undefined ? {} : { from: new Date(Date.now() - lastMs).toISOString() };
      return (await pawl.statistics.over({ ...rest, ...from })).data;
    },
    placeholderData: keepPreviousData,
    refetchInterval: useBeat(EVERY_MS),
  });
}

export function useFailures(since: string, workflowId: string | undefined) {
  return useQuery({
    queryKey: ['failures', since, workflowId ?? ''],
    queryFn: async () => {
      const from = new Date(Date.now() - PERIODS[since as keyof typeof PERIODS]).toISOString();
      return (await pawl.statistics.failures({ since: from, ...(workflowId === undefined ? {} : { workflowId }) }))
        .data;
    },
    placeholderData: keepPreviousData,
    refetchInterval: useBeat(EVERY_MS),
  });
}
