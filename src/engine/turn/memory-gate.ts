// The memory of a runner's executions, by tenant (I21, I22). A tenant alone may fill the budget; some is reserved for others, by
// the rule of src/core/share. Over its share a tenant begins nothing new, goes on with one node of an execution at a time, and
// attempts without a place wait outside memory. Bytes on their way to the database count separately: a tenant with many of them
// decides nothing until they are written.

import type { Input } from '../../core/decider/input.ts';
import { mayHoldOneMore } from '../../core/share/share.ts';
import { HeldBytes } from './held-bytes.ts';
import type { Resident } from './resident.ts';

/** The bytes that one tenant may have in flight to the database; all tenants together may have twice as many. */
const MAX_UNWRITTEN_BYTES = 16 * 1024 * 1024;
/** A smaller execution is not worth a checkpoint and a load. */
const LARGE_BYTES = 64 * 1024;
/** A tenant that holds less than this part of the budget counts as holding nothing. */
const NEXT_TO_NOTHING = 1 / 64;

const NOBODY: Resident[] = [];

export class MemoryGate {
  /** Of executions that have begun: one that has not begun must not keep another from beginning. */
  private readonly memory: HeldBytes<Resident>;
  private readonly unwritten = new HeldBytes<Resident>((ofTenant, ofAll) =>
    mayHoldOneMore(ofTenant, ofAll, MAX_UNWRITTEN_BYTES),
  );
  /** Of large executions that have not begun. */
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

  /** Small ones are many and weigh little, so they are left out. */
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
   * Whether its tenant exceeds its share even without this one, so that it should leave memory as soon as nothing of it runs.
   * An execution that came in small may have grown, and a thousand of them could. A single one stays, however large it is.
   */
  isTooMuch(resident: Resident): boolean {
    const bytes = resident.hasBegun ? resident.bytes : 0;
    return bytes > LARGE_BYTES && !this.memory.hasRoom(resident.execution.tenantId, -bytes);
  }

  /**
   * Whether it can wait: it has not begun, or it is small beside large ones of its tenant and would grow by its next turn.
   * The large ones go on, and make room when they end. A cancel or signal does not wait for that.
   */
  mayWait(resident: Resident): boolean {
    if (!resident.hasBegun) return resident.state.seq === 0;
    return this.large > 0 && resident.bytes <= LARGE_BYTES && resident.queue.every(({ input }) => isResult(input));
  }

  /** true: `ready` returns it once there is room. */
  waits(resident: Resident): boolean {
    const isFull = !this.hasRoom(resident);
    if (isFull) this.memory.wait(resident.execution.tenantId, resident);
    return isFull;
  }

  /** Executions that may begin or go on now. */
  ready(): Resident[] {
    const ready = this.memory.ready();
    return ready.length === 0 ? ready : ready.filter(({ isGone, isBusy }) => !isGone && !isBusy);
  }

  /** Whether nodes that were held back may start now. */
  mayGoOn(resident: Resident): boolean {
    return resident.mayHoldMore() && (resident.running.size === 0 || !this.waits(resident));
  }

  /** true: it takes its turn when more of its tenant's bytes are written. */
  waitsForWrites(resident: Resident): boolean {
    const { tenantId } = resident.execution;
    const isFull = !this.unwritten.hasRoom(tenantId);
    if (isFull) this.unwritten.wait(tenantId, resident);
    return isFull;
  }

  /** This many bytes go to the database or, below zero, have arrived. Returns the executions that take their turn now. */
  writes({ execution: { tenantId } }: Resident, bytes: number): Resident[] {
    this.unwritten.add(tenantId, bytes);
    return bytes < 0 ? this.unwritten.ready() : NOBODY;
  }
}

const isResult = ({ type }: Input): boolean =>
  type === 'attemptSucceeded' || type === 'attemptFailed' || type === 'goOn';
