// Lifecycles: machines, their instances, timelines, and triggers.

import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { TimelineEntryJson } from '../../../src/protocol/lifecycle.ts';
import { pawl } from './client.ts';

const EVERY_MS = 5_000;

export type TimelineEntry = TimelineEntryJson;

export function useLifecycles() {
  return useQuery({
    queryKey: ['lifecycles'],
    queryFn: async () => (await pawl.lifecycles.list({ limit: 200 })).data,
    refetchInterval: EVERY_MS,
  });
}

export function useLifecycle(env: string, name: string, version?: number) {
  return useQuery({
    queryKey: ['lifecycle', env, name, version ?? 'newest'],
    queryFn: () => pawl.lifecycles.of(env, name).get(version === undefined ? {} : { version }),
  });
}

export function useInstances(env: string, name: string, filter: { readonly state?: string; readonly prefix?: string }) {
  return useInfiniteQuery({
    queryKey: ['lifecycle', env, name, 'instances', filter],
    queryFn: ({ pageParam }) =>
      pawl.lifecycles
        .of(env, name)
        .instances({ ...filter, limit: 50, ...(pageParam === undefined ? {} : { cursor: pageParam }) }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
    refetchInterval: EVERY_MS,
  });
}

export function useInstance(env: string, name: string, ref: string) {
  return useQuery({
    queryKey: ['instance', env, name, ref],
    queryFn: () => pawl.lifecycles.of(env, name).instance(ref),
    refetchInterval: EVERY_MS,
  });
}

export function useTimeline(env: string, name: string, ref: string) {
  return useQuery({
    queryKey: ['instance', env, name, ref, 'timeline'],
    queryFn: async () => (await pawl.lifecycles.of(env, name).timeline(ref, { limit: 200 })).data,
    refetchInterval: EVERY_MS,
  });
}

export const importLifecycle = (definition: object, policies: object | undefined) =>
  pawl.lifecycles.import({
    definition: definition as never,
    ...(policies === undefined ? {} : { policies: policies as never }),
  });

export const triggerInstance = (
  env: string,
  name: string,
  request: { externalRef: string; event: string; requestId: string; payload?: unknown },
) => pawl.lifecycles.of(env, name).trigger(request);

/** How many instances are in each state, each counted up to ten thousand. */
export function useLifecycleCounts(env: string, name: string) {
  return useQuery({
    queryKey: ['lifecycle', env, name, 'counts'],
    queryFn: async () => (await pawl.lifecycles.of(env, name).counts()).data,
    refetchInterval: EVERY_MS,
  });
}

export function useLifecycleVersions(env: string, name: string) {
  return useQuery({
    queryKey: ['lifecycle', env, name, 'versions'],
    queryFn: async () => (await pawl.lifecycles.of(env, name).versions({ limit: 200 })).data,
  });
}
