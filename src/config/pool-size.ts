// The number of connections of a process, and their division between pools. The lease and the listener are counted first: a
// runner that lost them to its own queries would lose its work to others.

/** One for the lease, one for hints. */
export const RESERVED_CONNECTIONS = 2;

export interface PoolSizes {
  readonly engineConnections: number;
  readonly readConnections: number;
}

/** `maxConnections` is the total of the process. The pools shrink in proportion to fit. */
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

/** The most connections that one process may hold. */
export function connectionsPerProcess(options: Parameters<typeof poolSizes>[0]): number {
  const { engineConnections, readConnections } = poolSizes(options);
  return engineConnections + readConnections + RESERVED_CONNECTIONS;
}
