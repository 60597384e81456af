// How many connections a process may have, and how its pools share them. The one that keeps the lease and the one that listens are
// counted first: a runner that lost them to its own queries would lose its work to others.

/** The lease and the hints. */
export const RESERVED_CONNECTIONS = 2;

export interface PoolSizes {
  readonly engineConnections: number;
  readonly readConnections: number;
}

/** `maxConnections` is the total of the process; the pools shrink to fit into it, in proportion. */
export function poolSizes({
  engineConnections,
  readConnections,
  maxConnections,
}: PoolSizes & { readonly maxConnections?: number | undefined }): PoolSizes {
  const wanted = engineConnections + readConnections;
  const room = (maxConnections ?? Number.POSITIVE_INFINITY) - RESERVED_CONNECTIONS;
  if (wanted <= room) return { engineConnections, readConnections };
  const reads = Math.max(1, Math.floor((room * readConnections) / wanted));
  return { engineConnections: room - reads, readConnections: reads };
}

/** All that one process may hold. */
export function connectionsPerProcess(options: Parameters<typeof poolSizes>[0]): number {
  const { engineConnections, readConnections } = poolSizes(options);
  return engineConnections + readConnections + RESERVED_CONNECTIONS;
}
