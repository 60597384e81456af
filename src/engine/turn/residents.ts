// The executions in this runner's memory, what they hold, and which of them only wait. Those that only wait (for a timer that is near,
// or for a child or a worker that may be quick) cost memory and nothing else, so they take nobody's place. Otherwise a downstream that
// fails would fill the runner with executions between two tries, and everybody else would wait for them (I22). As many may wait here
// as may be at work; beyond that an execution leaves memory however near its time is.

import type { Clock } from '../../clock/clock.ts';
import { allNodes } from '../../core/decider/frame.ts';
import type { EngineOptions } from '../environment.ts';
import { SlotMap } from '../slot-map.ts';
import { MemoryGate } from './memory-gate.ts';
import type { Resident } from './resident.ts';
import { isSuspect } from './suspects.ts';

/** Leaving for a shorter time than this costs more than it brings. */
const BARELY_MS = 50;
/** Alarms reach no further (alarm.ts). */
const LONGEST_LINGER_MS = 5_000;

export interface ResidentsDeps {
  readonly clock: Clock;
  readonly options: Pick<EngineOptions, 'maxResident' | 'maxResidentBytes' | 'parkAfterMs'>;
}

export class Residents {
  private readonly deps: ResidentsDeps;
  private readonly all = new SlotMap<Resident>();
  private readonly idle = new Set<Resident>();
  readonly memory: MemoryGate;
  private bytes = 0;

  constructor(deps: ResidentsDeps) {
    this.deps = deps;
    this.memory = new MemoryGate(deps.options.maxResidentBytes);
  }

  has(executionId: string): boolean {
    return this.all.has(executionId);
  }

  get(executionId: string): Resident | undefined {
    return this.all.get(executionId);
  }

  ids(): Iterable<string> {
    return this.all.keys();
  }

  values(): Iterable<Resident> {
    return this.all.values();
  }

  get size(): number {
    return this.all.size;
  }

  /** Those that do more than wait. */
  get activeCount(): number {
    return this.all.size - this.idle.size;
  }

  /** About what all of them hold: payloads, parameters and outputs. */
  get heldBytes(): number {
    return this.bytes;
  }

  add(resident: Resident): void {
    this.all.set(resident.execution.executionId, resident);
    this.weigh(resident);
  }

  /** It has been decided on, and may have grown. */
  weigh(resident: Resident): void {
    const by = resident.growth();
    this.bytes += by;
    this.memory.grew(resident, by);
  }

  remove(resident: Resident): void {
    const { executionId } = resident.execution;
    this.idle.delete(resident);
    const bytes = resident.leave();
    this.bytes -= bytes;
    this.memory.left(resident, bytes);
    if (this.all.get(executionId) === resident) this.all.delete(executionId);
  }

  clear(): void {
    this.all.clear();
  }

  /** From now on it only waits. */
  rest(resident: Resident): void {
    this.idle.add(resident);
  }

  /** It has something to do again. */
  stir(resident: Resident): void {
    this.idle.delete(resident);
  }

  /** Until when it waits in memory; null: it leaves. `due`: when its next timer is. */
  staysUntil(resident: Resident, due: number | null): number | null {
    const { parkAfterMs, maxResident } = this.deps.options;
    // A suspect that only waits does not keep the other suspects waiting.
    const isWanted = !(resident.owesCrashReset && isSuspect(resident));
    const now = this.deps.clock.now();
    const inMs = due === null ? Number.POSITIVE_INFINITY : due - now;
    if (isWanted && inMs <= parkAfterMs && (this.idle.size < maxResident || inMs <= BARELY_MS)) return due;
    if (!isWanted || !waitsForOthers(resident) || this.idle.size >= maxResident / 2) return null;
    const until = resident.lingerUntil(now + Math.min(parkAfterMs, LONGEST_LINGER_MS));
    return until > now ? until : null;
  }
}

/** For a child, or for a worker: nothing of it runs here, so what is Running runs elsewhere. */
function waitsForOthers({ state }: Resident): boolean {
  for (const [, { status, childId, loop }] of allNodes(state)) {
    if ((status === 'Waiting' && childId !== null) || (status === 'Running' && loop === null)) return true;
  }
  return false;
}
