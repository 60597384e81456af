// How much memory the executions of a runner take, by tenant (I21, I22). A tenant alone may fill the budget; some is kept for the
// others, by the rule of src/core/share. Over its share a tenant begins nothing new, goes on with one node of an execution at a time, and
// attempts that find no place wait outside of memory. What is on its way to the database counts for itself: a tenant that has much
// there decides nothing until it is written.

import type { Input } from '../../core/decider/input.ts';
import { mayHoldOneMore } from '../../core/share/share.ts';
import { HeldBytes } from './held-bytes.ts';
import type { Resident } from './resident.ts';

/** The bytes that one tenant may have in flight to the database; all tenants together may have twice as many. */
const MAX_UNWRITTEN_BYTES = 16 * 1024 * 1024;
/** One that holds less frees nothing worth a checkpoint and a load by leaving. */
const LARGE_BYTES = 64 * 1024;
/** A tenant that holds less than this part of the budget counts as one that holds nothing. */
const NEXT_TO_NOTHING = 1 / 64;

const NOBODY: Resident[] = [];

export class MemoryGate {
  /** Of those that have begun: one that has not yet keeps no other from beginning. */
  private readonly memory: HeldBytes<Resident>;
  private readonly unwritten = new HeldBytes<Resident>((ofTenant, ofAll) =>
    mayHoldOneMore(ofTenant, ofAll, MAX_UNWRITTEN_BYTES),
  );
  /** Of the large ones that have not begun. */
  private readonly unbegun = new HeldBytes<Resident>(() => true);
  /** How many have begun, and how many of them are large. */
  private begun = 0;
  private large = 0;

  constructor(most: number) {
    this.memory = new HeldBytes((ofTenant, ofAll) =>
      mayHoldOneMore(ofTenant < most * NEXT_TO_NOTHING ? 0 : ofTenant, ofAll, most),
    );
  }

  grew(resident: Resident, by: number): void {
    if (resident.state.seq === 0) return this.countUnbegun(resident, by);
    const isFirst = resident.begin();
    if (isFirst) {
      this.begun++;
      this.countUnbegun(resident, by - resident.bytes);
    }
    if (resident.bytes > LARGE_BYTES && (isFirst || resident.bytes - by <= LARGE_BYTES)) this.large++;
    if (resident.bytes <= LARGE_BYTES && !isFirst && resident.bytes - by > LARGE_BYTES) this.large--;
    this.memory.add(resident.execution.tenantId, isFirst ? resident.bytes : by);
  }

  /** `bytes`: the last counted size. */
  left(resident: Resident, bytes: number): void {
    if (!resident.hasBegun) return this.countUnbegun(resident, -bytes);
    this.begun--;
    if (bytes > LARGE_BYTES) this.large--;
    this.memory.add(resident.execution.tenantId, -bytes);
  }

  /** Whether an execution of this size may be loaded for the tenant. The first one always may. */
  hasRoomToLoad(tenantId: string, bytes: number): boolean {
    const more = this.unbegun.of(tenantId);
    if (this.begun === 0 && more === 0) return true;
    return this.memory.hasRoom(tenantId, bytes + more, bytes + this.unbegun.ofAll);
  }

  /** Small ones are many and weigh nothing: they are left out. */
  private countUnbegun({ execution }: Resident, by: number): void {
    if (Math.abs(by) > LARGE_BYTES) this.unbegun.add(execution.tenantId, by);
  }

  hasRoomFor(tenantId: string, more = 0): boolean {
    return this.begun === 0 || this.memory.hasRoom(tenantId, more);
  }

  hasRoom(resident: Resident): boolean {
    const more = resident.hasBegun ? 0 : resident.bytes;
    return this.hasRoomFor(resident.execution.tenantId, more);
  }

  /**
   * Its tenant holds more than its share even without this one, so this one shall leave memory as soon as nothing of it runs. What came
   * in small may have grown; without this, a thousand of them would. One that is alone stays however large it is.
   */
  isTooMuch(resident: Resident): boolean {
    const bytes = resident.hasBegun ? resident.bytes : 0;
    return bytes > LARGE_BYTES && !this.memory.hasRoom(resident.execution.tenantId, -bytes);
  }

  /**
   * It has not begun, or is small beside large ones of its tenant, and would grow by its next turn. It can wait: the large ones go on,
   * and make room when they end. Somebody who cancels or signals does not wait for that.
   */
  mayWait(resident: Resident): boolean {
    if (!resident.hasBegun) return resident.state.seq === 0;
    return this.large > 0 && resident.bytes <= LARGE_BYTES && resident.queue.every(({ input }) => isResult(input));
  }

  /** True: it is among those that `ready` gives, once there is room. */
  waits(resident: Resident): boolean {
    const isFull = !this.hasRoom(resident);
    if (isFull) this.memory.wait(resident.execution.tenantId, resident);
    return isFull;
  }

  /** Those that may begin or go on now. */
  ready(): Resident[] {
    const ready = this.memory.ready();
    return ready.length === 0 ? ready : ready.filter(({ isGone, isBusy }) => !isGone && !isBusy);
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
    return bytes < 0 ? this.unwritten.ready() : NOBODY;
  }
}

const isResult = ({ type }: Input): boolean =>
  type === 'attemptSucceeded' || type === 'attemptFailed' || type === 'goOn';
