// The executions in this runner's memory, their bytes, and which of them only wait. Those that only wait (for a near timer, or
// for a child or worker that may be quick) cost only memory, so they take no place. Otherwise a failing downstream would fill the
// runner with executions between two tries, and all others would wait (I22). As many may wait here as may work; beyond that an
// execution leaves memory, however near its time is.

import type { Clock } from '../../clock/clock.ts';
import { allNodes } from '../../core/decider/frame.ts';
import type { EngineOptions } from '../environment.ts';
import { SlotMap } from '../slot-map.ts';
import { MemoryGate } from './memory-gate.ts';
import type { Resident } from './resident.ts';
import { isSuspect } from './suspects.ts';

/** Leaving for a shorter time costs more than it saves. */
const BARELY_MS = 50;
/** The horizon of alarms (alarm.ts). */
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

  /** Executions that do more than wait. */
  get activeCount(): number {
    return this.all.size - this.idle.size;
  }

  /** The estimated bytes of all: payloads, parameters and outputs. */
  get heldBytes(): number {
    return this.bytes;
  }

  add(resident: Resident): void {
    this.all.set(resident.execution.executionId, resident);
    this.weigh(resident);
  }

  /** It was decided on and may have grown. */
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

  /** It only waits from now on. */
  rest(resident: Resident): void {
    this.idle.add(resident);
  }

  /** It has something to do again. */
  stir(resident: Resident): void {
    this.idle.delete(resident);
  }

  /** Until when it waits in memory; null: it leaves. `due`: its next timer. */
  staysUntil(resident: Resident, due: number | null): number | null {
    const { parkAfterMs, maxResident } = this.deps.options;
    // A suspect that only waits does not hold up other suspects.
    const isWanted = !(resident.owesCrashReset && isSuspect(resident));
    const now = this.deps.clock.now();
    const inMs = due === null ? Number.POSITIVE_INFINITY : due - now;
    if (isWanted && inMs <= parkAfterMs && (this.idle.size < maxResident || inMs <= BARELY_MS)) return due;
    if (!isWanted || !waitsForOthers(resident) || this.idle.size >= maxResident / 2) return null;
    const until = resident.lingerUntil(now + Math.min(parkAfterMs, LONGEST_LINGER_MS));
    return until > now ? until : null;
  }
}

/** For a child or a worker: nothing of it runs here, so a Running node runs elsewhere. */
function waitsForOthers({ state }: Resident): boolean {
  for (const [, { status, childId, loop }] of allNodes(state)) {
    if ((status === 'Waiting' && childId !== null) || (status === 'Running' && loop === null)) return true;
  }
  return false;
}
