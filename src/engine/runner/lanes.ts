// Whose turn it is. A lane is (tenant, priority). Tenants take turns and share a claim evenly (I22); within a tenant the
// highest priority goes first, except that what has waited longer than a minute is taken whatever its priority.
// Each lane has a low-water mark: claims look only at rows newer than the last one taken, because the dead index entries
// of older ones cost time while some snapshot is held; every second the whole lane is looked at.

import type { Lane } from '../../store/port.ts';

const IMPATIENT_AFTER_MS = 60_000;
const MARK_SLACK_MS = 100;

export class Lanes {
  private lanes: readonly Lane[] = [];
  private marks = new Map<string, number>();
  private turn = 0;

  refresh(lanes: readonly Lane[]): void {
    this.lanes = lanes;
  }

  /** Lanes that have work too, as far as is known. */
  add(found: readonly Lane[]): void {
    const known = new Set(this.lanes.map(({ tenantId, priority }) => laneKey(tenantId, priority)));
    const fresh: Lane[] = [];
    for (const lane of found) {
      const key = laneKey(lane.tenantId, lane.priority);
      if (!known.has(key)) fresh.push(lane);
      known.add(key);
    }
    if (fresh.length > 0) this.lanes = [...this.lanes, ...fresh];
  }

  isEmpty(): boolean {
    return this.lanes.length === 0;
  }

  has({ tenantId, priority }: LaneKey): boolean {
    return this.lanes.some((lane) => lane.tenantId === tenantId && lane.priority === priority);
  }

  /** From now on look at whole lanes again. */
  forgetMarks(): void {
    this.marks.clear();
  }

  /** The lanes to visit now: at most `limit`, a different tenant first each time. */
  next(now: number, limit: number): { tenantId: string; priority: number; mark: number }[] {
    const byTenant = new Map<string, Lane[]>();
    for (const lane of this.lanes) {
      const chosen = byTenant.get(lane.tenantId) ?? [];
      byTenant.set(lane.tenantId, choose(chosen, lane, now));
    }
    const tenants = [...byTenant.values()];
    const first = tenants.length === 0 ? 0 : this.turn++ % tenants.length;
    return [...tenants.slice(first), ...tenants.slice(0, first)]
      .flat()
      .slice(0, limit)
      .map(({ tenantId, priority }) => ({
        tenantId,
        priority,
        mark: this.marks.get(laneKey(tenantId, priority)) ?? 0,
      }));
  }

  taken(rows: readonly { tenantId: string; priority: number; readyAt: number }[]): void {
    for (const { tenantId, priority, readyAt } of rows) {
      const key = laneKey(tenantId, priority);
      this.marks.set(key, Math.max(this.marks.get(key) ?? 0, readyAt - MARK_SLACK_MS));
    }
  }

  /**
   * Of the lanes that were visited, those that gave less than was asked of each have no more: until a new look at all. What came
   * before `upTo` was passed over on purpose, and is not looked at again before the marks are forgotten.
   */
  dropExhausted(visited: readonly LaneKey[], rows: readonly LaneKey[], perLane: number, upTo = 0): void {
    const given = new Map(visited.map(({ tenantId, priority }) => [laneKey(tenantId, priority), 0]));
    for (const { tenantId, priority } of rows) {
      const key = laneKey(tenantId, priority);
      given.set(key, (given.get(key) ?? 0) + 1);
    }
    const exhausted: Lane[] = [];
    const left: Lane[] = [];
    for (const lane of this.lanes) {
      const gave = given.get(laneKey(lane.tenantId, lane.priority)) ?? perLane;
      (gave < perLane ? exhausted : left).push(lane);
    }
    if (exhausted.length === 0) return;
    this.lanes = left;
    if (upTo > 0) this.taken(exhausted.map((lane) => ({ ...lane, readyAt: upTo })));
  }
}

type LaneKey = Pick<Lane, 'tenantId' | 'priority'>;

/** The tenant's best lane, after those that have waited too long. */
function choose(chosen: Lane[], lane: Lane, now: number): Lane[] {
  const impatient = chosen.filter((other) => isImpatient(other, now));
  if (isImpatient(lane, now)) return [...impatient, lane, ...chosen.filter((other) => !impatient.includes(other))];
  const best = chosen.find((other) => !isImpatient(other, now));
  return [...impatient, best !== undefined && best.priority >= lane.priority ? best : lane];
}

function isImpatient({ oldestReadyAt }: Lane, now: number): boolean {
  return now - oldestReadyAt > IMPATIENT_AFTER_MS;
}

function laneKey(tenantId: string, priority: number): string {
  return `${priority}:${tenantId}`;
}
