// Finds work: looks which lanes have any, claims as much as there is room for, and takes what this very process accepts. Hints
// make it quick, the poll makes it certain (I11).

import type { Clock } from '../../clock/clock.ts';
import type { Timers } from '../../clock/timers.ts';
import type { HintedLane } from '../../store/hint-port.ts';
import {
  CANCEL_LANE,
  type ClaimedExecution,
  type ClaimResult,
  type Lane,
  type NewExecution,
  type StartOutcome,
  type Store,
} from '../../store/port.ts';
import { Crowd } from '../crowd.ts';
import type { EngineObserver, EngineOptions } from '../environment.ts';
import type { LoadingDeps } from '../turn/loading.ts';
import type { Resident } from '../turn/resident.ts';
import { hasPlaceForMore, isSuspect, lastChance, mostCrashesBeside, suspectsToClaim } from '../turn/suspects.ts';
import { Arrivals } from './arrivals.ts';
import type { Incarnation } from './incarnation.ts';
import { Lanes } from './lanes.ts';
import { LostClaims } from './lost-claims.ts';
import { startAsOwn } from './own-starts.ts';
import { type Door, Quarantine } from './quarantine.ts';
import { shareClaim, tenantShare } from './tenant-share.ts';

/** What queue rows may ask of a runner to be claimed by this one: what a newer version started is left to newer runners. */
export const BEHAVIOUR = 1;
const LANES_PER_CLAIM = 64;
const LANES_LIMIT = 1_000;
const LANES_FRESH_MS = 50;
/** A look at all lanes takes at most about a tenth of the time, however many there are: hints tell of new ones meanwhile. */
const REST_PER_LANES_LOOK = 10;
/** So that one claim is on its way while what the last one brought is taken in. */
const CLAIM_AT_MOST = 400;
/** How often a full runner looks at the lanes: for cancelled executions, which leave at once, and for tenants that hold little here. */
const FULL_LOOK_EVERY_MS = 200;
const CANCELLED_AT_ONCE = 50;
const NO_ROOM_FOR_MS = 500;
const MOST_HINTED = 1_000;
const WHOLE_LANES_PAST_CROWD_MS = 5_000;

export interface ClaimerDeps extends LoadingDeps {
  readonly store: Store;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly observer: EngineObserver;
  readonly options: EngineOptions;
  readonly incarnation: Incarnation;
  /** Steps of one tenant that may run here at once: what its quota leaves to this runner. */
  readonly stepsAtOnce: (tenantId: string) => number;
}

export class Claimer {
  private readonly deps: ClaimerDeps;
  private readonly lanes = new Lanes();
  private readonly arrivals: Arrivals;
  private readonly lostClaims: LostClaims;
  private claiming = false;
  private wanted = false;
  private stopped = false;
  /** The last look left something behind, for lack of room. */
  private leftSome = true;
  private lanesFreshAt = Number.NEGATIVE_INFINITY;
  private lanesFreshMs = LANES_FRESH_MS;
  /** The last lane of a look that did not reach all of them: the next look begins behind it. */
  private lanesAfter: Lane | null = null;
  /** There may be lanes with work that the last look did not reach. */
  private isLanesPart = false;
  /** The last look began behind other lanes, which may have work. */
  private isLaterPage = false;
  private readonly crowd: Crowd;
  /** The fewest crashes of those that were left because of the suspects that are here. */
  private leftCrashes = Number.POSITIVE_INFINITY;
  private wholeLanesAt = Number.NEGATIVE_INFINITY;
  private fullLookAt = Number.NEGATIVE_INFINITY;
  /** Lanes that hints named since the last round began. */
  private hinted: HintedLane[] = [];
  /** A full runner left something of a tenant that may have more places when one of its executions has ended. */
  private leftNewcomers = false;
  /** Tenants of whom something was given back a moment ago, for lack of memory. */
  private readonly crowdedOut = new Set<string>();
  private readonly quarantine = new Quarantine();
  private door: Door = 'open';

  constructor(deps: ClaimerDeps) {
    this.deps = deps;
    this.crowd = new Crowd(deps.options.maxResident);
    this.arrivals = new Arrivals({
      ...deps,
      placeFreed: () => this.placeFreed(),
      noRoom: (tenants) => this.noRoom(tenants),
      lost: this.lost,
    });
    const isStopped = () => this.stopped;
    this.lostClaims = new LostClaims({ ...deps, arrivals: this.arrivals, isStopped, returned: () => this.hint() });
  }

  private readonly lost = (error: unknown): Promise<void> => this.lostClaims.lost(error);

  reconcile(): Promise<void> {
    return this.lostClaims.reconcile();
  }

  /** Something may be ready: in these lanes, or in unknown ones. */
  hint(lanes?: readonly HintedLane[]): void {
    const hasRoom = lanes !== undefined && this.hinted.length + lanes.length <= MOST_HINTED;
    if (hasRoom) this.hinted.push(...lanes);
    else this.forgetLanes();
    // The last look took everything: then these are all, and need not be looked for.
    const isAll = hasRoom && !this.claiming && !this.leftSome && this.lanesFreshAt !== Number.NEGATIVE_INFINITY;
    if (isAll) this.lanesFreshAt = this.deps.timers.monotonicMs();
    this.look();
  }

  /** The next round looks which lanes have work. */
  private forgetLanes(): void {
    this.lanesFreshAt = Number.NEGATIVE_INFINITY;
  }

  /** A place became free: worth a look only if the last one left something behind. */
  placeFreed(): void {
    const { incarnation, options } = this.deps;
    if (this.door === 'closed') return this.look();
    // What was left because of the crowd is older than what was taken since.
    if (!this.crowd.isEmpty && this.crowd.look(incarnation.heldBack())) {
      this.forgetMarks();
      return this.hint();
    }
    if (this.mayTakeSuspects()) return this.rescan();
    if (!this.leftSome) return;
    const room = this.room();
    if (room <= 0 && this.leftNewcomers) return this.look();
    // A claim for every single place would cost more than it brings: wait for a quarter of them.
    const isWorthIt = room * 4 >= options.maxResident || incarnation.activeCount * 4 <= options.maxResident;
    if (room > 0 && isWorthIt) this.look();
  }

  stop(): void {
    this.stopped = true;
    this.lostClaims.stop();
  }

  /** Look at whole lanes again, not only at what is newer than the last row taken. Past a crowd that is a long way: less often. */
  rescan(): void {
    const now = this.deps.timers.monotonicMs();
    if (this.crowd.isEmpty || now >= this.wholeLanesAt + WHOLE_LANES_PAST_CROWD_MS) this.forgetMarks();
    this.hint();
  }

  private forgetMarks(): void {
    this.wholeLanesAt = this.deps.timers.monotonicMs();
    this.lanes.forgetMarks();
  }

  /** Coalesced: while one round runs, any number of wishes cause one more. */
  private look(): void {
    this.wanted = true;
    if (!this.claiming && !this.stopped) void this.run();
  }

  private room(): number {
    return this.deps.incarnation.capacity() - this.arrivals.size;
  }

  /** What these tenants have in the queue does not fit into memory now: looking at once would bring the same. */
  private noRoom(tenants: readonly string[]): void {
    for (const tenantId of tenants) this.crowdedOut.add(tenantId);
    this.deps.timers.after(NO_ROOM_FOR_MS, () => {
      for (const tenantId of tenants) this.crowdedOut.delete(tenantId);
      this.rescan();
    });
  }

  private shareOf(tenantId: string): number {
    const { incarnation, stepsAtOnce } = this.deps;
    if (!incarnation.residents.memory.hasRoomFor(tenantId) || this.crowdedOut.has(tenantId)) return 0;
    const atOnce = stepsAtOnce(tenantId);
    if (atOnce === Number.POSITIVE_INFINITY) return atOnce;
    let held = this.arrivals.ofTenant(tenantId);
    for (const { execution } of incarnation.residents.values()) if (execution.tenantId === tenantId) held++;
    return tenantShare(atOnce, held);
  }

  private async run(): Promise<void> {
    this.claiming = true;
    while (this.wanted && !this.stopped) {
      this.wanted = false;
      await this.round().catch((error) => {
        this.forgetLanes();
        return this.lost(error);
      });
    }
    this.claiming = false;
  }

  /** Ends when the claim is answered: what it brought is taken in while the next one is under way. */
  private async round(): Promise<void> {
    const { clock, incarnation } = this.deps;
    if (this.isClosed()) return;
    if (this.door === 'alone') return this.takeAlone();
    const room = Math.min(this.room(), CLAIM_AT_MOST);
    this.leftSome = room <= 0;
    const hinted = this.hinted.splice(0);
    if (room <= 0) return this.takeAlthoughFull(hinted);
    this.leftNewcomers = false;
    await this.refreshLanes();
    const oldestReadyAt = clock.now();
    this.lanes.add(hinted.map(({ tenantId, priority }) => ({ tenantId, priority, oldestReadyAt })));
    if (this.crowd.look(incarnation.heldBack())) this.forgetMarks();
    const waiting = this.lanes.next(clock.now(), LANES_PER_CLAIM);
    const { lanes, limit, leavesSome } = shareClaim(waiting, room, (tenantId) => this.shareOf(tenantId));
    this.leftSome = leavesSome;
    // A claim that takes nothing would lock the fence for it, and wait for the disk.
    if (lanes.length === 0) return;
    const perLane = Math.ceil(limit / lanes.length);
    const askedAt = clock.now();
    const claimed = await incarnation.runInSlotZero(() => this.claim(lanes, perLane, limit));
    // What the crowd left behind is not looked at again with every claim: it may be a long way to the end of it.
    if (claimed.length < limit) this.lanes.dropExhausted(lanes, claimed, perLane, this.crowd.isEmpty ? 0 : askedAt);
    const hasMore = this.isLanesPart && this.lanes.isEmpty() && (claimed.length > 0 || this.isLaterPage);
    if (hasMore) this.forgetLanes();
    this.leftSome = hasMore || !this.lanes.isEmpty();
    if (this.leftSome) this.wanted = true;
    // Suspects may have stood before all others: look once more, past those that were left.
    if (claimed.some(isSuspect)) this.rescan();
    if (claimed.length > 0) this.deps.timers.soon(() => void this.arrivals.bringIn(claimed));
  }

  /** Takes nothing now, because the runner empties itself or runs a suspect alone. */
  private isClosed(): boolean {
    const { incarnation, timers } = this.deps;
    const before = this.door;
    const lastChances = this.suspectsHere().filter(({ crashes }) => crashes === this.lastChance).length;
    const all = incarnation.residents.size + this.arrivals.size;
    this.door = this.quarantine.door(timers.monotonicMs(), { lastChances, all });
    if (this.door === 'open' && before !== 'open') this.forgetMarks();
    const isClosed = this.door === 'closed' || (this.door === 'alone' && !incarnation.isOpen());
    // Starts are not adopted either.
    if (isClosed) this.leftSome = true;
    return isClosed;
  }

  private get lastChance(): number {
    return lastChance(this.deps.options.maxPoisonRetries);
  }

  private emptyFor(lane: NonNullable<ClaimResult['leftAlone']>): void {
    const { timers } = this.deps;
    const lookAfterMs = this.quarantine.saw(lane, timers.monotonicMs());
    if (lookAfterMs === null) return;
    this.wanted = true;
    timers.after(lookAfterMs, () => this.look());
  }

  private async takeAlone(): Promise<void> {
    const { incarnation, timers } = this.deps;
    this.leftSome = true;
    const lanes = [{ ...this.quarantine.lane!, mark: 0 }];
    const claimed = await incarnation.runInSlotZero(() => this.claim(lanes, 1, 1));
    const lookAfterMs = this.quarantine.took(timers.monotonicMs());
    if (claimed.length === 0) return this.rescan();
    timers.after(lookAfterMs, () => this.rescan());
    timers.soon(() => void this.arrivals.bringIn(claimed));
  }

  /**
   * What was cancelled before it began needs no place, and does not wait for one. A tenant that holds little has places that are
   * kept for it (I22): those that somebody hinted at are claimed at once, the others with the next look at all lanes.
   */
  private async takeAlthoughFull(hinted: readonly HintedLane[]): Promise<void> {
    const { clock, incarnation, timers } = this.deps;
    if (hinted.length > 0) this.forgetLanes();
    if (!incarnation.isOpen()) return;
    const now = timers.monotonicMs();
    const isLookDue = now >= this.fullLookAt + FULL_LOOK_EVERY_MS;
    if (isLookDue) {
      this.fullLookAt = now;
      await this.refreshLanes();
    }
    const known = isLookDue || this.leftNewcomers ? this.lanes.next(clock.now(), LANES_PER_CLAIM) : [];
    const named = hinted.slice(0, LANES_PER_CLAIM);
    const lanes = [...known, ...named.map(({ tenantId, priority }) => ({ tenantId, priority, mark: 0 }))];
    if (isLookDue) await this.takeCancelled(lanes.filter(({ priority }) => priority === CANCEL_LANE));
    await this.takeNewcomers(lanes);
    if (isLookDue && !this.lanes.isEmpty()) timers.after(FULL_LOOK_EVERY_MS, () => this.look());
  }

  private async takeCancelled(lanes: ReturnType<Lanes['next']>): Promise<void> {
    if (lanes.length === 0) return;
    const claim = () => this.claim(lanes, CANCELLED_AT_ONCE, CANCELLED_AT_ONCE);
    const claimed = await this.deps.incarnation.runInSlotZero(claim);
    if (claimed.length > 0) void this.arrivals.bringIn(claimed);
  }

  private async takeNewcomers(known: ReturnType<Lanes['next']>): Promise<void> {
    const { incarnation } = this.deps;
    this.leftNewcomers = false;
    const byLane = new Map(known.map((lane) => [`${lane.priority}:${lane.tenantId}`, lane]));
    const kept = new Map<string, number>();
    for (const { tenantId } of byLane.values()) {
      const most = Math.min(incarnation.keptFor(tenantId, this.arrivals.ofTenant(tenantId)), this.shareOf(tenantId));
      kept.set(tenantId, most);
    }
    const lanes = [...byLane.values()].filter(({ tenantId }) => kept.get(tenantId)! > 0);
    if (lanes.length === 0) return;
    const perLane = Math.min(CLAIM_AT_MOST, ...lanes.map(({ tenantId }) => kept.get(tenantId)!));
    const claimed = await incarnation.runInSlotZero(() => this.claim(lanes, perLane, perLane * lanes.length));
    this.lanes.dropExhausted(lanes, claimed, perLane);
    this.leftNewcomers = claimed.length > 0 && lanes.some((lane) => this.lanes.has(lane));
    if (claimed.length > 0) this.deps.timers.soon(() => void this.arrivals.bringIn(claimed));
  }

  private async refreshLanes(): Promise<void> {
    const { store, timers } = this.deps;
    const now = timers.monotonicMs();
    if (now - this.lanesFreshAt <= this.lanesFreshMs) return;
    this.lanesFreshAt = now;
    let found = await store.queueLanes({ limit: LANES_LIMIT, after: this.lanesAfter });
    // Nothing is behind the last page: the lanes before it may still have work.
    if (found.length === 0 && this.lanesAfter !== null) {
      this.lanesAfter = null;
      found = await store.queueLanes({ limit: LANES_LIMIT, after: null });
    }
    this.isLaterPage = this.lanesAfter !== null;
    this.lanes.refresh(found);
    this.isLanesPart = this.lanesAfter !== null || found.length === LANES_LIMIT;
    this.lanesAfter = found.length === LANES_LIMIT ? found.at(-1)! : null;
    this.lanesFreshMs = Math.max(LANES_FRESH_MS, (timers.monotonicMs() - now) * REST_PER_LANES_LOOK);
  }

  /** Counts what it claimed as arriving in the same turn of slot zero: a reconcile that comes next must not miss it. */
  private async claim(lanes: ReturnType<Lanes['next']>, perLane: number, limit: number) {
    const { store, incarnation, options, clock, observer } = this.deps;
    const alone = this.door === 'alone';
    const mostCrashes = alone ? Number.POSITIVE_INFINITY : this.mostCrashes();
    const { claimed, at, leftAlone } = await store.executionClaim({
      slotId: incarnation.registration.slotIds[0]!,
      lanes,
      perLane,
      limit,
      behaviour: BEHAVIOUR,
      ...(Number.isFinite(mostCrashes) ? { maxCrashes: mostCrashes } : {}),
      suspects: suspectsToClaim(this.suspectsHere(), options.maxPoisonRetries),
      ...(alone ? { alone } : {}),
      ...(this.crowd.isEmpty || alone ? {} : { except: this.crowd.list() }),
    });
    this.arrivals.expect(claimed);
    clock.observe(at);
    observer.count('claimed', claimed.length);
    this.lanes.taken(claimed);
    const suspects = claimed.filter(isSuspect);
    // Those with more chances left go first.
    if (leftAlone !== null && suspects.length === 0) this.emptyFor(leftAlone);
    this.leftCrashes = suspects[0]?.crashes ?? mostCrashes + 1;
    return claimed;
  }

  /** What this very process accepts. Null: not now, let it go through the queue. */
  adopt(items: NewExecution[]): Promise<StartOutcome[]> | null {
    const { arrivals, lost } = this;
    return this.mayAdopt(items) ? startAsOwn({ ...this.deps, arrivals, lost }, items) : null;
  }

  /** Not if somebody waits already: it would be overtaken (I22). */
  private mayAdopt(items: readonly NewExecution[]): boolean {
    const { incarnation, stepsAtOnce } = this.deps;
    if (this.stopped || this.claiming || this.leftSome || !incarnation.isSlotZeroFree()) return false;
    if (items.length > this.room() || incarnation.heldBack().length > 0) return false;
    return items.every(
      ({ tenantId, behaviour = BEHAVIOUR }) =>
        behaviour <= BEHAVIOUR && stepsAtOnce(tenantId) === Number.POSITIVE_INFINITY,
    );
  }

  private suspectsHere(): (ClaimedExecution | Resident)[] {
    const here: (ClaimedExecution | Resident)[] = [];
    for (const claim of this.arrivals.values()) if (isSuspect(claim)) here.push(claim);
    for (const resident of this.deps.incarnation.residents.values()) {
      if (resident.owesCrashReset && isSuspect(resident)) here.push(resident);
    }
    return here;
  }

  private mostCrashes(): number {
    const most = mostCrashesBeside(this.suspectsHere(), this.deps.options.maxPoisonRetries);
    return this.door === 'rest' ? Math.min(most, this.lastChance - 1) : most;
  }

  /** Some were left that would have a place now: they need not wait for the poll. */
  private mayTakeSuspects(): boolean {
    if (this.leftCrashes === Number.POSITIVE_INFINITY) return false;
    return this.leftCrashes <= this.mostCrashes() && hasPlaceForMore(this.suspectsHere());
  }
}
