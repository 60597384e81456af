// Executions in memory that only wait: for a timer that is near, or for a child or a worker that may be quick. They cost memory and nothing
// else, so they take nobody's place: a downstream that fails would otherwise fill the runner with executions between two tries,
// and everybody else would wait for them (I22). As many may wait here as may be at work; what is too many leaves memory however
// near its time is.

import type { Clock } from '../../clock/clock.ts';
import { allNodes } from '../../core/decider/frame.ts';
import type { EngineOptions } from '../environment.ts';
import type { Resident } from './resident.ts';
import { isSuspect } from './suspects.ts';

/** Leaving for a shorter time than this costs more than it brings. */
const BARELY_MS = 50;
/** Alarms reach no further (alarm.ts). */
const LONGEST_LINGER_MS = 5_000;

export class IdleResidents {
  private readonly clock: Clock;
  private readonly options: Pick<EngineOptions, 'maxResident' | 'parkAfterMs'>;
  private readonly idle = new Set<Resident>();

  constructor({ clock, options }: { clock: Clock; options: Pick<EngineOptions, 'maxResident' | 'parkAfterMs'> }) {
    this.clock = clock;
    this.options = options;
  }

  get size(): number {
    return this.idle.size;
  }

  add(resident: Resident): void {
    this.idle.add(resident);
  }

  delete(resident: Resident): void {
    this.idle.delete(resident);
  }

  /** Until when it waits in memory; null: it leaves. `due`: when its next timer is. */
  staysUntil(resident: Resident, due: number | null): number | null {
    const { parkAfterMs, maxResident } = this.options;
    // What only waits does not keep the other suspects waiting.
    const isWanted = !(resident.owesCrashReset && isSuspect(resident));
    const now = this.clock.now();
    const inMs = due === null ? Number.POSITIVE_INFINITY : due - now;
    if (isWanted && inMs <= parkAfterMs && (this.idle.size < maxResident || inMs <= BARELY_MS)) return due;
    if (!isWanted || !waitsForOthers(resident) || this.idle.size >= maxResident / 2) return null;
    resident.lingersUntil ??= now + Math.min(parkAfterMs, LONGEST_LINGER_MS);
    return resident.lingersUntil > now ? resident.lingersUntil : null;
  }
}

/** For a child, or for a worker: nothing of it runs here, so what is Running runs elsewhere. */
function waitsForOthers({ state }: Resident): boolean {
  for (const [, { status, childId, loop }] of allNodes(state)) {
    if ((status === 'Waiting' && childId !== null) || (status === 'Running' && loop === null)) return true;
  }
  return false;
}
