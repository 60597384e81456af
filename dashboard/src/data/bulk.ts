// Actions on many executions: counted first, then ordered, then followed.

import { useQuery } from '@tanstack/react-query';
import type { BulkRequest } from '../../../src/protocol/bulk.ts';
import { type ExecutionFilter, queryOfFilter } from '../model/execution-filter.ts';
import { pawl } from './client.ts';

export type BulkAction = BulkRequest['action'];

export type BulkTarget = { readonly ids: readonly string[] } | { readonly filter: ExecutionFilter };

const FOLLOW_MS = 1_000;

function targetOf(target: BulkTarget): Pick<BulkRequest, 'ids' | 'filter'> {
  if ('ids' in target) return { ids: [...target.ids] };
  return { filter: queryOfFilter(target.filter, Date.now()) as never };
}

export const countBulk = (action: BulkAction, target: BulkTarget) =>
  pawl.bulk.order({ requestId: crypto.randomUUID(), action, reason: 'count', dryRun: true, ...targetOf(target) });

export const orderBulk = (requestId: string, action: BulkAction, target: BulkTarget, reason: string) =>
  pawl.bulk.order({ requestId, action, reason, ...targetOf(target) });

export function useBulk(id: string) {
  return useQuery({
    queryKey: ['bulk', id],
    queryFn: () => pawl.bulk.get(id),
    refetchInterval: ({ state }) => (state.data?.state === 'running' || state.data === undefined ? FOLLOW_MS : false),
  });
}

export const stopBulk = (id: string) => pawl.bulk.stop(id);
