// How much memory the executions of a runner take, by tenant (I21, I22). A tenant alone may fill the budget; some is kept for the
// others, by the rule of src/core/share. Over its share a tenant begins nothing new, goes on with one node of an execution at a time, and
// attempts that find no place wait outside of memory. What is on its way to the database counts for itself: a tenant that has much
// there decides nothing until it is written.

import { mayHoldOneMore } from '../../core/share/share.ts';
import { HeldBytes } from './held-bytes.ts';
import type { Resident } from './resident.ts';

const MAX_UNWRITTEN_BYTES = 16 * 1024 * 1024;
/** A tenant that holds less than this part of the budget counts as one that holds nothing. */
const NEXT_TO_NOTHING = 1 / 64;

export class MemoryGate {
  /** Of those that have begun: one that has not yet keeps no other from beginning. */
  private readonly memory: HeldBytes<Resident>;
  private readonly unwritten = new HeldBytes<Resident>((ofTenant) => ofTenant < MAX_UNWRITTEN_BYTES);
  private readonly sizes = new Map<Resident, number>();
  private readonly begun = new Set<Resident>();

  constructor(most: number) {
    this.memory = new HeldBytes((ofTenant, ofAll) =>
      mayHoldOneMore(ofTenant < most * NEXT_TO_NOTHING ? 0 : ofTenant, ofAll, most),
    );
  }

  grew(resident: Resident, by: number): void {
    const before = this.sizes.get(resident) ?? 0;
    this.sizes.set(resident, before + by);
    if (resident.state.seq === 0) return;
    this.memory.add(resident.execution.tenantId, this.begun.has(resident) ? by : before + by);
    this.begun.add(resident);
  }

  left(resident: Resident): void {
    if (this.begun.delete(resident)) this.memory.add(resident.execution.tenantId, -this.sizes.get(resident)!);
    this.sizes.delete(resident);
  }

  hasRoomFor(tenantId: string, more = 0): boolean {
    return this.begun.size === 0 || this.memory.hasRoom(tenantId, more);
  }

  hasRoom(resident: Resident): boolean {
    const more = this.begun.has(resident) ? 0 : (this.sizes.get(resident) ?? 0);
    return this.hasRoomFor(resident.execution.tenantId, more);
  }

  /** True: it is among those that `ready` gives, once there is room. */
  waits(resident: Resident): boolean {
    const isFull = !this.hasRoom(resident);
    if (isFull) this.memory.wait(resident.execution.tenantId, resident);
    return isFull;
  }

  /** Those that may begin or go on now. */
  ready(): Resident[] {
    return this.memory.ready().filter(({ isGone, isBusy }) => !isGone && !isBusy);
  }

  /** Whether nodes that could start and did not shall start now. */
  mayGoOn(resident: Resident): boolean {
    return resident.mayHoldMore() && (resident.running.size === 0 || !this.waits(resident));
  }

  /** True: it takes its turn when more of its tenant is written. */
  waitsForWrites(resident: Resident): boolean {
    const { tenantId } = resident.execution;
    const isFull = !this.unwritten.hasRoom(tenantId);
    if (isFull) this.unwritten.wait(tenantId, resident);
    return isFull;
  }

  /** So many bytes are on their way to the database, or, below zero, no longer. Gives those that take their turn now. */
  writes({ execution: { tenantId } }: Resident, bytes: number): Resident[] {
    this.unwritten.add(tenantId, bytes);
    return bytes < 0 ? this.unwritten.ready() : [];
  }
}
