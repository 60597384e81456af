// Hands attempts to the action layer, as many at once as are allowed (in all, per tenant, per action type), and brings
// their results back. An attempt waits here for a free place, never in a retry delay or a sleep. None is handed out once
// the lease may be over (I6). Tenants and action types take turns, so none can starve another (I22).

import type { AttemptRequest, AttemptResult, EngineObserver, RunAttempt, Timers } from './environment.ts';

export interface AttemptLimits {
  readonly total: number;
  readonly perTenant: number;
  readonly perAction: Readonly<Record<string, number>>;
  /** Of one tenant and one action type: what its quota leaves to this runner. */
  readonly perTenantAction?: ((tenantId: string, actionType: string) => number) | undefined;
}

export interface AttemptDeskDeps {
  readonly limits: AttemptLimits;
  readonly run: RunAttempt;
  readonly mayDispatch: () => boolean;
  readonly timers: Timers;
  readonly observer: EngineObserver;
}

interface Waiting {
  readonly request: AttemptRequest;
  readonly finished: (result: AttemptResult) => void;
}

/** How soon to look again whether the lease allows it, when something waits for that. */
const LEASE_CHECK_MS = 100;
/** Enough to keep a place busy while commits are on their way (3b decision 14). */
const EXECUTIONS_PER_PLACE = 4;
const ABORTED = { code: 'CANCELLED', message: 'The execution stopped before the attempt began' };

export class AttemptDesk {
  private readonly deps: AttemptDeskDeps;
  /** What waits, by tenant and action type; the first queue is the next to have its turn. */
  private readonly queues = new Map<string, Waiting[]>();
  private readonly tenants = new Tally();
  private readonly actions = new Tally();
  private readonly tenantActions = new Tally();
  private running = 0;
  private waiting = 0;
  private closed = false;
  private checking = false;

  constructor(deps: AttemptDeskDeps) {
    this.deps = deps;
  }

  submit(request: AttemptRequest, finished: (result: AttemptResult) => void): void {
    const entry = { request, finished };
    if (this.waiting === 0 && this.hasPlace(request) && this.deps.mayDispatch()) return this.run(entry);
    const key = keyOf(request);
    const queue = this.queues.get(key);
    if (queue === undefined) this.queues.set(key, [entry]);
    else queue.push(entry);
    this.waiting++;
    this.next();
  }

  /** Places that are free now. What its tenant's quota holds back takes none: others may have them (I22). */
  free(): number {
    let wanted = 0;
    for (const queue of this.queues.values()) if (!this.isHeldBack(queue[0]!.request)) wanted += queue.length;
    return Math.max(0, this.deps.limits.total - this.running - wanted);
  }

  /** How many more executions would find work here, besides those whose next attempts are not known yet. */
  roomFor(undecided: number): number {
    return Math.max(0, this.free() * EXECUTIONS_PER_PLACE - undecided);
  }

  /** Attempts that are running or wait for a place. */
  size(): number {
    return this.running + this.waiting;
  }

  /** Forgets what still waits: whoever owns the executions next runs it. */
  dropWaiting(): void {
    this.queues.clear();
    this.waiting = 0;
  }

  /** Also what runs is no longer listened to. */
  close(): void {
    this.closed = true;
    this.dropWaiting();
  }

  private hasPlace(request: AttemptRequest): boolean {
    const { tenantId, actionType } = request;
    const { total, perTenant, perAction } = this.deps.limits;
    return (
      this.running < total &&
      this.tenants.count(tenantId) < perTenant &&
      this.actions.count(actionType) < (perAction[actionType] ?? Number.POSITIVE_INFINITY) &&
      !this.isHeldBack(request)
    );
  }

  private isHeldBack(request: AttemptRequest): boolean {
    const { perTenantAction } = this.deps.limits;
    if (perTenantAction === undefined) return false;
    return this.tenantActions.count(keyOf(request)) >= perTenantAction(request.tenantId, request.actionType);
  }

  private run({ request, finished }: Waiting): void {
    const { tenantId, actionType } = request;
    this.running++;
    this.tenants.add(tenantId, 1);
    this.actions.add(actionType, 1);
    this.tenantActions.add(keyOf(request), 1);
    this.deps.observer.count('dispatched');
    void this.deps.run(request).then((result) => {
      this.running--;
      this.tenants.add(tenantId, -1);
      this.actions.add(actionType, -1);
      this.tenantActions.add(keyOf(request), -1);
      if (this.closed) return;
      finished(result);
      this.next();
    });
  }

  /** One entry of each queue in turn, until nothing that waits has a place. */
  private next(): void {
    for (let blocked = 0; this.waiting > 0 && blocked < this.queues.size; ) {
      if (!this.deps.mayDispatch()) return this.checkLater();
      const [key, queue] = this.queues.entries().next().value!;
      const [entry] = queue as [Waiting];
      const isAborted = entry.request.signal.aborted;
      const goes = isAborted || this.hasPlace(entry.request);
      this.queues.delete(key);
      if (goes) queue.shift();
      if (queue.length > 0) this.queues.set(key, queue);
      if (!goes) {
        blocked++;
        continue;
      }
      blocked = 0;
      this.waiting--;
      if (isAborted) entry.finished({ ok: false, error: ABORTED, retryable: false, aborted: true });
      else this.run(entry);
    }
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

/** The ids of tenants have no line breaks. */
const keyOf = ({ tenantId, actionType }: AttemptRequest): string => `${tenantId}\n${actionType}`;

/** Counts by name; names that are back at zero cost nothing. */
class Tally {
  private readonly counts = new Map<string, number>();

  count(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  add(name: string, by: number): void {
    const count = this.count(name) + by;
    if (count === 0) this.counts.delete(name);
    else this.counts.set(name, count);
  }
}
