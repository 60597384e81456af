// The installation: runners, health, dead letters, the audit log, tenants, the catalog.

import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { AuditQuery } from '../../../src/sdk/admin.ts';
import { pawl } from './client.ts';

const EVERY_MS = 5_000;

export function useRunners() {
  return useQuery({
    queryKey: ['runners'],
    queryFn: async () => (await pawl.admin.runners({ limit: 100 })).data,
    refetchInterval: EVERY_MS,
  });
}

export function useDetailedHealth() {
  return useQuery({
    queryKey: ['health', 'detailed'],
    queryFn: () => pawl.system.detailedHealth(),
    refetchInterval: EVERY_MS,
  });
}

export function useDeadLetters() {
  return useQuery({
    queryKey: ['dead-letters'],
    queryFn: async () => (await pawl.admin.deadLetters({ limit: 100 })).data,
    refetchInterval: EVERY_MS,
  });
}

export const requeueDeadLetter = (id: string) => pawl.admin.requeueDeadLetter(id);
export const purgeDeadLetter = (id: string) => pawl.admin.purgeDeadLetter(id);

export function useAudit(filter: Pick<AuditQuery, 'actor' | 'action' | 'target'>) {
  return useInfiniteQuery({
    queryKey: ['audit', filter],
    queryFn: ({ pageParam }) =>
      pawl.admin.audit({ ...filter, limit: 50, ...(pageParam === undefined ? {} : { cursor: pageParam }) }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
  });
}

export function useTenants() {
  return useQuery({
    queryKey: ['tenants'],
    queryFn: async () => (await pawl.admin.tenants({ limit: 200 })).data,
  });
}

export function useQuota(tenantId: string | undefined) {
  return useQuery({
    queryKey: ['quota', tenantId],
    queryFn: () => pawl.admin.quota(tenantId!),
    enabled: tenantId !== undefined,
  });
}

export type Connector = NonNullable<ReturnType<typeof useConnectors>['data']>[number];

/** The tenant's credentials for a connector, never with their secrets. */
export function useConnections(connector: string) {
  return useQuery({
    queryKey: ['connections', connector],
    queryFn: async () => (await pawl.connections.list({ connector, limit: 200 })).data,
  });
}

export const checkConnection = (name: string, principal: string | undefined) =>
  pawl.connections.check(name, principal === undefined ? {} : { principal });

export function useConnectors() {
  return useQuery({
    queryKey: ['connectors'],
    queryFn: async () => (await pawl.catalog.connectors({ limit: 200 })).data,
  });
}

export function useConnectorActions(id: string) {
  return useQuery({
    queryKey: ['connector', id, 'actions'],
    queryFn: async () => (await pawl.catalog.connectorActions(id, { limit: 200 })).data,
  });
}

export const setConnectorEnabled = (id: string, isEnabled: boolean) => pawl.catalog.setConnectorEnabled(id, isEnabled);
export const updateAction = pawl.catalog.updateAction.bind(pawl.catalog);

export const drainRunner = (id: string) => pawl.admin.drainRunner(id);

export function useKeys(isAllowed: boolean) {
  return useQuery({
    queryKey: ['keys'],
    queryFn: async () => (await pawl.admin.keys({ limit: 200 })).data,
    enabled: isAllowed,
  });
}

export const createKey = pawl.admin.createKey.bind(pawl.admin);
export const revokeKey = (id: string) => pawl.admin.revokeKey(id);
