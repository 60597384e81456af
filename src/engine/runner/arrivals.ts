// Claimed executions, and those started as this runner's own, on their way into memory: loaded if the claim did not include them,
// made residents, and handed to the incarnation. An execution that cannot be loaded becomes a dead letter and harms no other
// (I20).

import { DECIDER_VERSION } from '../../core/decider/decide.ts';
import type { ClaimedExecution, LoadedExecution, Store } from '../../store/port.ts';
import type { EngineOptions } from '../environment.ts';
import { SlotMap } from '../slot-map.ts';
import { nextStoredSeq } from '../turn/dead-letter.ts';
import { freshResident, inGroups, type LoadingDeps, loadResidents } from '../turn/loading.ts';
import type { Resident } from '../turn/resident.ts';
import { lastChance } from '../turn/suspects.ts';
import type { Incarnation } from './incarnation.ts';

export interface ArrivalsDeps extends LoadingDeps {
  readonly store: Store;
  readonly options: EngineOptions;
  readonly incarnation: Incarnation;
  readonly placeFreed: () => void;
  /** Executions of these tenants were given back for lack of memory. */
  readonly noRoom: (tenantIds: readonly string[]) => void;
  /** Some did not arrive: this runner owns them, but they are not in its memory. */
  readonly lost: (error: unknown) => Promise<void>;
}

interface Arriving {
  readonly execution: LoadedExecution;
  readonly claim: ClaimedExecution;
}

/** An estimate; a larger execution is loaded alone. */
const LOADED_AT_ONCE_BYTES = 16 * 1024 * 1024;
/** Smaller executions are always admitted. */
const SMALL_BYTES = 64 * 1024;

export class Arrivals {
  private readonly deps: ArrivalsDeps;
  private readonly arriving = new SlotMap<ClaimedExecution>();
  private tail: Promise<void> = Promise.resolve();

  constructor(deps: ArrivalsDeps) {
    this.deps = deps;
  }

  /** How many bytes are loaded before the remaining memory is checked again. */
  private get atOnce(): number {
    return Math.min(LOADED_AT_ONCE_BYTES, this.deps.options.maxResidentBytes / 8);
  }

  get size(): number {
    return this.arriving.size;
  }

  has(executionId: string): boolean {
    return this.arriving.has(executionId);
  }

  values(): Iterable<ClaimedExecution> {
    return this.arriving.values();
  }

  ofTenant(tenantId: string): number {
    let count = 0;
    for (const claimed of this.arriving.values()) if (claimed.tenantId === tenantId) count++;
    return count;
  }

  /** This runner owns them from now on, or is about to. */
  expect(claimed: readonly ClaimedExecution[]): void {
    for (const claim of claimed) this.arriving.set(claim.executionId, claim);
  }

  /** One claim after the other, so that the first claimed goes first. */
  bringIn(claimed: readonly ClaimedExecution[]): Promise<void> {
    this.tail = this.tail.then(() => this.takeIn(claimed));
    return this.tail;
  }

  private async takeIn(claimed: readonly ClaimedExecution[]): Promise<void> {
    try {
      await this.takeAll(
        claimed.flatMap((claim) => (claim.execution === null ? [] : this.takeFresh(claim.execution, claim))),
      );
      await this.load(claimed.filter(({ execution }) => execution === null));
    } catch (error) {
      this.notArriving(claimed);
      await this.deps.lost(error);
    } finally {
      this.notArriving(claimed);
    }
  }

  notArriving(claimed: readonly ClaimedExecution[]): void {
    for (const claim of claimed) {
      // It may have left and been claimed again meanwhile: then the newer claim arrives.
      if (this.arriving.get(claim.executionId) === claim) this.arriving.delete(claim.executionId);
    }
  }

  private async load(claimed: readonly ClaimedExecution[]): Promise<void> {
    const { store } = this.deps;
    const trusted = await this.buryCulprits(claimed);
    if (trusted.length === 0) return;
    const claims = new Map(trusted.map((row) => [row.executionId, row]));
    const bytes = await this.bytesOf(trusted);
    const tooMuch: ClaimedExecution[] = [];
    for (const group of inGroups(trusted, this.atOnce, ({ executionId }) => bytes.get(executionId) ?? 0)) {
      const fitting = group.filter((claim) => this.hasRoom(claim, bytes.get(claim.executionId) ?? 0));
      tooMuch.push(...group.filter((claim) => !fitting.includes(claim)));
      if (fitting.length === 0) continue;
      const executionIds = fitting.map(({ executionId }) => executionId);
      const executions = await store.executionLoad({ executionIds, deciderVersion: DECIDER_VERSION });
      await this.takeAll(executions.map((execution) => ({ execution, claim: claims.get(execution.executionId)! })));
    }
    await this.giveBack(tooMuch);
  }

  /** A single execution is loaded whatever its size: there is nothing to choose. */
  private async bytesOf(claimed: readonly ClaimedExecution[]): Promise<ReadonlyMap<string, number>> {
    if (claimed.length === 1) return new Map();
    const executionIds = claimed.map(({ executionId }) => executionId);
    const rows = await this.deps.store.executionLoadBytes({ executionIds });
    return new Map(rows.map(({ executionId, bytes }) => [executionId, bytes]));
  }

  private hasRoom({ tenantId }: ClaimedExecution, bytes: number): boolean {
    return bytes < SMALL_BYTES || this.deps.incarnation.residents.memory.hasRoomToLoad(tenantId, bytes);
  }

  /** Executions without room in memory become ready for any runner, this one included. */
  private async giveBack(claimed: readonly ClaimedExecution[]): Promise<void> {
    if (claimed.length === 0) return;
    const { store, incarnation } = this.deps;
    const items = claimed.map(({ executionId, epoch }) => ({ executionId, epoch }));
    const slotId = incarnation.registration.slotIds[0]!;
    await incarnation.runInSlotZero(() => store.executionRelease({ slotId, items }));
    this.notArriving(claimed);
    this.deps.noRoom([...new Set(claimed.map(({ tenantId }) => tenantId))]);
  }

  /**
   * Takes an execution at once if its plan is cached. Returns those that must be loaded, which happens for a whole claim
   * together.
   */
  private takeFresh(execution: LoadedExecution, claim: ClaimedExecution): Arriving[] {
    const resident = freshResident(this.deps, execution, claim);
    if (resident === null) return [{ execution, claim }];
    this.arrived(resident, claim);
    return [];
  }

  private async takeAll(items: readonly Arriving[]): Promise<void> {
    const { incarnation } = this.deps;
    if (items.length === 0) return;
    const hasRoom = ({ claim }: Arriving, bytes: number) => this.hasRoom(claim, bytes);
    const tooMuch: ClaimedExecution[] = [];
    for await (const { item, loaded } of loadResidents(this.deps, items, { atOnce: this.atOnce, hasRoom })) {
      const { execution, claim } = item;
      if (loaded === null) tooMuch.push(claim);
      else if (loaded.ok) this.arrived(loaded.resident, claim);
      else {
        const error = { code: loaded.code, message: loaded.problem };
        await incarnation.bury({ execution, error, crashes: claim.crashes, seq: nextStoredSeq(execution) });
      }
    }
    await this.giveBack(tooMuch);
  }

  /** It is in memory now, and must not count twice. */
  private arrived(resident: Resident, claim: ClaimedExecution): void {
    this.notArriving([claim]);
    this.deps.incarnation.turns.take(resident);
  }

  private async buryCulprits(claimed: readonly ClaimedExecution[]): Promise<ClaimedExecution[]> {
    const most = lastChance(this.deps.options.maxPoisonRetries);
    for (const culprit of claimed.filter(({ crashes }) => crashes > most)) {
      await this.buryCulprit(culprit);
      this.notArriving([culprit]);
      this.deps.placeFreed();
    }
    return claimed.filter(({ crashes }) => crashes <= most);
  }

  private async buryCulprit({ executionId, crashes }: ClaimedExecution): Promise<void> {
    const { store, incarnation } = this.deps;
    const [execution] = await store.executionLoad({ executionIds: [executionId], deciderVersion: DECIDER_VERSION });
    if (execution === undefined) return;
    const message = `its runner crashed ${crashes} times while it ran`;
    await incarnation.bury({ execution, error: { code: 'POISON', message }, crashes, seq: nextStoredSeq(execution) });
  }
}
