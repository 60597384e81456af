// Hands attempts to the action layer, as many at once as are allowed (in all, per tenant, per action type), and brings
// their results back. An attempt waits here for a free place, never in a retry delay or a sleep. None is handed out once
// the lease may be over (I6). Tenants and action types take turns, and places are kept for tenants that hold few, so none can starve
// another (I22). An action that does its
// work before it returns is timed: many of them are spread over turns of the event loop (S4).

import type { AttemptRequest, AttemptResult, RunAttempt } from '../../action/attempt.ts';
import type { Timers } from '../../clock/timers.ts';
import { mayHoldOneMore, shareLeft } from '../../core/share/share.ts';
import type { WorkflowKey } from '../../store/port.ts';
import type { WaitingWorkflow } from '../crowd.ts';
import type { EngineObserver } from '../environment.ts';
import type { Pace } from '../pace.ts';
import { Lately } from './lately.ts';

export interface AttemptLimits {
  readonly total: number;
  readonly perTenant: number;
  readonly perAction: Readonly<Record<string, number>>;
  /** Of one tenant and one action type: what its quota leaves to this runner. */
  readonly perTenantAction?: ((tenantId: string, actionType: string) => number) | undefined;
  /** So many may wait behind the limits of their tenant or action type. */
  readonly heldBack: number;
}

/** Places of attempts in a process, and who holds them. */
/** Attempts of one execution that wait for a place, and how many of the places its own tenant holds. */
export interface PlaceWait {
  readonly attempts: number;
  readonly longestMs: number;
  readonly heldByTenant: number;
  readonly places: number;
}

export interface HeldPlaces {
  readonly total: number;
  readonly used: number;
  readonly waiting: number;
  /** How long the first of those that wait has waited. */
  readonly longestMs: number;
  readonly holders: readonly { readonly tenantId: string; readonly held: number }[];
}

export interface AttemptDeskDeps {
  readonly limits: AttemptLimits;
  readonly run: RunAttempt;
  readonly mayDispatch: () => boolean;
  readonly timers: Timers;
  readonly pace: Pace;
  readonly observer: EngineObserver;
}

interface Waiting {
  readonly request: AttemptRequest;
  /** When it began to wait for a place. */
  readonly since: number;
  readonly finished: (result: AttemptResult) => void;
}

/** The attempts of one tenant and one action type. Forgotten when it has none and there are many tenants. */
interface Lane {
  readonly tenantId: string;
  readonly actionType: string;
  readonly waiting: Waiting[];
  running: number;
}

/** How soon to look again whether the lease allows it, when something waits for that. */
const LEASE_CHECK_MS = 100;
/** Enough to keep a place busy while commits are on their way. */
const EXECUTIONS_PER_PLACE = 4;
const REMEMBERED_TENANTS = 100;
const MOST_HOLDERS = 10;
const NOT_BEGUN: AttemptResult = {
  ok: false,
  error: { code: 'CANCELLED', message: 'The execution stopped before the attempt began' },
  retryable: false,
  aborted: true,
};

export class AttemptDesk {
  private readonly deps: AttemptDeskDeps;
  /** By tenant, then by action type. */
  private readonly lanes = new Map<string, Map<string, Lane>>();
  /** Those where something waits; the first is the next to have its turn. */
  private turns: Lane[] = [];
  private readonly tenants = new Tally();
  private readonly actions = new Tally();
  /** Attempts that have given back their place, or needed none. */
  private readonly ended: Lately;
  private running = 0;
  private waiting = 0;
  private closed = false;
  private checking = false;
  private goingOn = false;

  constructor(deps: AttemptDeskDeps) {
    this.deps = deps;
    this.ended = new Lately(deps.timers);
  }

  /** False: too many wait behind its limit already, or it may not wait. It is not taken, and shall not wait in memory. */
  submit(request: AttemptRequest, finished: (result: AttemptResult) => void, mayWait = true): boolean {
    const lane = this.laneOf(request.tenantId, request.actionType);
    const { mayDispatch, pace, limits, timers } = this.deps;
    if (this.waiting === 0 && pace.hasTime() && this.hasPlace(lane) && mayDispatch()) {
      this.run(lane, request, finished);
      return true;
    }
    if (!mayWait && !this.hasPlace(lane)) return false;
    if (this.waiting >= limits.heldBack && this.isHeldBack(lane) && this.countHeldBack() >= limits.heldBack)
      return false;
    if (lane.waiting.length === 0) this.turns.push(lane);
    lane.waiting.push({ request, finished, since: timers.monotonicMs() });
    this.waiting++;
    this.next();
    return true;
  }

  /** By workflow, what waits behind the limit of its tenant or action type, while there are places for others. */
  heldBack(): WaitingWorkflow[] {
    const found = new Map<string, WorkflowKey & { count: number }>();
    if (this.running >= this.deps.limits.total) return [];
    for (const { waiting } of this.turns.filter((lane) => this.isHeldBack(lane))) {
      for (const { tenantId, workflowId } of waiting.map(({ request }) => request)) {
        const key = `${tenantId}/${workflowId}`;
        const known = found.get(key);
        if (known === undefined) found.set(key, { tenantId, workflowId, count: 1 });
        else known.count++;
      }
    }
    return [...found.values()];
  }

  private countHeldBack(): number {
    if (this.running >= this.deps.limits.total) return 0;
    return this.turns.reduce((sum, lane) => sum + (this.isHeldBack(lane) ? lane.waiting.length : 0), 0);
  }

  /** Places that are free now. Attempts that wait behind their own limit take none, so others may have them (I22). */
  free(): number {
    return Math.max(0, this.unwanted());
  }

  /** Below zero: the number of attempts that wait for a place. */
  private unwanted(): number {
    let wanted = 0;
    for (const lane of this.turns) if (!this.isHeldBack(lane)) wanted += lane.waiting.length;
    return this.deps.limits.total - this.running - wanted;
  }

  /**
   * How many more executions would find work here, besides those whose next attempts are not known yet. By the time a claim has brought
   * them, as many places will be free as became free lately: quick ones must not stand empty meanwhile. Behind slow ones nothing is
   * hoarded that another runner could do.
   */
  roomFor(undecided: number): number {
    const soon = Math.min(this.ended.count(), this.deps.limits.total);
    return Math.max(0, (this.unwanted() + soon) * EXECUTIONS_PER_PLACE - undecided);
  }

  /** What still waits never begins: whoever owns the executions next runs it. */
  dropWaiting(): void {
    for (const { finished } of this.takeWaiting()) finished(NOT_BEGUN);
  }

  /** Nothing begins any more, and what runs is no longer listened to. */
  close(): void {
    this.closed = true;
    this.takeWaiting();
  }

  private takeWaiting(): Waiting[] {
    const taken = this.turns.flatMap((lane) => lane.waiting.splice(0));
    for (const lane of this.turns) this.forgetIfIdle(lane);
    this.turns = [];
    this.waiting = 0;
    return taken;
  }

  private laneOf(tenantId: string, actionType: string): Lane {
    let ofTenant = this.lanes.get(tenantId);
    if (ofTenant === undefined) {
      ofTenant = new Map();
      this.lanes.set(tenantId, ofTenant);
    }
    let lane = ofTenant.get(actionType);
    if (lane === undefined) {
      lane = { tenantId, actionType, waiting: [], running: 0 };
      ofTenant.set(actionType, lane);
    }
    return lane;
  }

  private forgetIfIdle({ tenantId, actionType, running, waiting }: Lane): void {
    if (running > 0 || waiting.length > 0 || this.lanes.size <= REMEMBERED_TENANTS) return;
    const ofTenant = this.lanes.get(tenantId);
    ofTenant?.delete(actionType);
    if (ofTenant?.size === 0) this.lanes.delete(tenantId);
  }

  private hasPlace(lane: Lane): boolean {
    const { total } = this.deps.limits;
    return mayHoldOneMore(this.tenants.count(lane.tenantId), this.running, total) && !this.isHeldBack(lane);
  }

  /** How many more executions of this tenant would find work here although everything else is taken: from the places kept for others. */
  keptFor(tenantId: string): number {
    return shareLeft(this.tenants.count(tenantId), this.running, this.deps.limits.total) * EXECUTIONS_PER_PLACE;
  }

  /** Who holds the places, the greediest first. */
  places(): HeldPlaces {
    const { total } = this.deps.limits;
    const now = this.deps.timers.monotonicMs();
    const longestMs = Math.round(
      this.turns.reduce((longest, { waiting }) => Math.max(longest, now - (waiting[0]?.since ?? now)), 0),
    );
    const holders = this.tenants.largest(MOST_HOLDERS);
    return { total, used: this.running, waiting: this.waiting, longestMs, holders };
  }

  /** Null: no attempt of this execution waits for a place. */
  waitOf(tenantId: string, executionId: string): PlaceWait | null {
    const lines = this.turns.filter((lane) => lane.tenantId === tenantId).map(({ waiting }) => waiting);
    const waiting = lines.flat().filter(({ request }) => request.executionId === executionId);
    if (waiting.length === 0) return null;
    const first = waiting.reduce((earliest, { since }) => Math.min(earliest, since), Number.POSITIVE_INFINITY);
    return {
      attempts: waiting.length,
      longestMs: Math.round(this.deps.timers.monotonicMs() - first),
      heldByTenant: this.tenants.count(tenantId),
      places: this.deps.limits.total,
    };
  }

  /** By a limit that others do not share. */
  private isHeldBack({ tenantId, actionType, running }: Lane): boolean {
    const { perTenant, perAction, perTenantAction } = this.deps.limits;
    return (
      this.tenants.count(tenantId) >= perTenant ||
      this.actions.count(actionType) >= (perAction[actionType] ?? Number.POSITIVE_INFINITY) ||
      (perTenantAction !== undefined && running >= perTenantAction(tenantId, actionType))
    );
  }

  private run(lane: Lane, request: AttemptRequest, finished: Waiting['finished']): void {
    this.deps.observer.count('dispatched');
    const outcome = this.begin(request);
    // What is done already took nobody's place, and there will be more room for its like.
    if (!(outcome instanceof Promise)) {
      this.ended.add();
      finished(outcome);
      return this.forgetIfIdle(lane);
    }
    this.count(lane, 1);
    const over = (result: AttemptResult) => {
      this.count(lane, -1);
      this.ended.add();
      if (!this.closed) {
        finished(result);
        this.next();
      }
      this.forgetIfIdle(lane);
    };
    void outcome.then(over, (error: unknown) => over(broken(error)));
  }

  private begin(request: AttemptRequest): AttemptResult | Promise<AttemptResult> {
    try {
      return this.deps.pace.timed(() => this.deps.run(request));
    } catch (error) {
      return broken(error);
    }
  }

  private count(lane: Lane, by: 1 | -1): void {
    lane.running += by;
    this.running += by;
    this.tenants.add(lane.tenantId, by);
    this.actions.add(lane.actionType, by);
  }

  /** One entry of each lane in turn, until nothing that waits has a place. */
  private next(): void {
    for (let blocked = 0; this.waiting > 0 && blocked < this.turns.length; ) {
      if (!this.deps.mayDispatch()) return this.checkLater();
      if (!this.deps.pace.hasTime()) return this.goOnSoon();
      const lane = this.turns[0]!;
      const { aborted, withheld } = lane.waiting[0]!.request.signal;
      const isUnwanted = aborted || withheld === true;
      const goes = isUnwanted || this.hasPlace(lane);
      const entry = goes ? lane.waiting.shift() : undefined;
      this.turns.shift();
      if (lane.waiting.length > 0) this.turns.push(lane);
      if (entry === undefined) {
        blocked++;
        continue;
      }
      blocked = 0;
      this.waiting--;
      if (!isUnwanted) this.run(lane, entry.request, this.withWait(entry));
      else {
        this.forgetIfIdle(lane);
        entry.finished(NOT_BEGUN);
      }
    }
  }

  private withWait({ since, finished }: Waiting): Waiting['finished'] {
    const waitedMs = Math.round(this.deps.timers.monotonicMs() - since);
    return waitedMs < 1 ? finished : (result) => finished({ ...result, waitedMs });
  }

  private goOnSoon(): void {
    if (this.goingOn) return;
    this.goingOn = true;
    this.deps.pace.run(() => {
      this.goingOn = false;
      this.next();
    });
  }

  private checkLater(): void {
    if (this.checking || this.closed) return;
    this.checking = true;
    this.deps.timers.after(LEASE_CHECK_MS, () => {
      this.checking = false;
      this.next();
    });
  }
}

/** Running it went wrong outside of the action: that is a bug, and this attempt met it. Nobody else shall suffer (I20). */
function broken(error: unknown): AttemptResult {
  const message = error instanceof Error ? error.message : 'the attempt could not be run';
  return { ok: false, error: { code: 'INTERNAL_ERROR', message }, retryable: false };
}

/** Counts by tenant or action type; names that are back at zero cost nothing. */
class Tally {
  private readonly counts = new Map<string, number>();

  count(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  largest(limit: number): { tenantId: string; held: number }[] {
    const all = [...this.counts].map(([tenantId, held]) => ({ tenantId, held }));
    return all.sort((one, other) => other.held - one.held).slice(0, limit);
  }

  add(name: string, by: number): void {
    const count = this.count(name) + by;
    if (count === 0) this.counts.delete(name);
    else this.counts.set(name, count);
  }
}
