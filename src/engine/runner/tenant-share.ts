// How much of a runner's memory a tenant may fill when its quota allows few concurrent steps. Without a bound its backlog would
// be claimed until no other tenant has room, and wait there (I22). Tenants without such a quota are not counted.

interface Lane {
  readonly tenantId: string;
}

/** Enough to keep its places busy while its other executions are decided and committed. */
const EXECUTIONS_PER_STEP = 8;

/**
 * How many more executions of a tenant to claim when it has `held` here. None until half have left, so that claims bring
 * several.
 */
export function tenantShare(stepsAtOnce: number, held: number): number {
  const most = stepsAtOnce * EXECUTIONS_PER_STEP;
  return held > most / 2 ? 0 : most - held;
}

export interface ClaimShare<L extends Lane> {
  readonly lanes: L[];
  readonly limit: number;
  /** Some lane was left out and gets a turn later. */
  readonly leavesSome: boolean;
}

/**
 * What one claim takes: the first lane alone when its tenant has a share; otherwise all lanes without one, within the limit.
 * Another tenant comes first each time, so each gets its turn.
 */
export function shareClaim<L extends Lane>(
  lanes: L[],
  limit: number,
  shareOf: (tenantId: string) => number,
): ClaimShare<L> {
  const shares = lanes.map(({ tenantId }) => shareOf(tenantId));
  const unbounded = lanes.filter((_lane, index) => shares[index] === Number.POSITIVE_INFINITY);
  if (unbounded.length === lanes.length) return { lanes, limit, leavesSome: false };
  const isFirstBounded = Number.isFinite(shares[0]) && shares[0]! > 0;
  const bounded = shares.findIndex((share) => Number.isFinite(share) && share > 0);
  if (unbounded.length > 0 && !isFirstBounded) return { lanes: unbounded, limit, leavesSome: true };
  if (bounded < 0) return { lanes: [], limit: 0, leavesSome: true };
  return { lanes: [lanes[bounded]!], limit: Math.min(limit, shares[bounded]!), leavesSome: true };
}
