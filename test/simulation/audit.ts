// Watches every statement as it happens in the database, and every external call as it starts, and reports a broken invariant at
// once. The audit trusts nobody: everything it knows comes from the rows themselves.

import type { AttemptRequest } from '../../src/action/attempt.ts';
import { fromCheckpoint, toCheckpoint } from '../../src/core/decider/checkpoint.ts';
import type { Fact } from '../../src/core/decider/fact.ts';
import type { ExternalTurn } from '../../src/store/external-port.ts';
import type { AttemptRow, CommitBatch, ParkItem } from '../../src/store/port.ts';
import { EXTERNAL, liveRunner, OWNED, type Statements, type Tables } from './database/tables.ts';
import { foldExecution, planOf, startOf } from './fold.ts';
import { JournalWatch } from './journal-watch.ts';
import type { Process, World } from './world.ts';

export interface Violation {
  readonly invariant: string;
  readonly what: string;
  readonly at: number;
}

/** One external call, with the life of the runner that started it. */
export interface Dispatch {
  readonly id: string;
  readonly executionId: string;
  readonly nodeId: string;
  readonly attempt: number;
  readonly epoch: number;
  readonly runnerId: string | undefined;
  /** The result of the call has reached the engine. */
  isFinished: boolean;
  /** The call has ended, with a result or because it was told to stop; it has no effect any more. */
  isOver: boolean;
}

/** What a process knows of its own lease, from the replies that reached it. */
export interface HeldLease {
  readonly runnerId: string;
  /** The time of the call whose reply proves the lease. */
  startedAt: number;
}

export interface AuditDeps {
  readonly world: World;
  readonly tables: Tables;
  /** The time of the database if its clock had never been set back. Nothing that anybody believes may be ahead of it. */
  readonly latestTime: () => number;
  readonly leaseMs: number;
  readonly leaseMarginMs: number;
  readonly maxPoisonRetries: number;
  readonly leaseOf: (process: Process) => HeldLease | undefined;
  /** Whether this execution is meant to end in the dead letters. */
  readonly isPoison: (executionId: string) => boolean;
}

export class Audit {
  readonly violations: Violation[] = [];
  readonly dispatches = new Map<string, Dispatch>();
  readonly excused = new Set<string>();
  private readonly deps: AuditDeps;
  private readonly watches = new Map<string, JournalWatch>();
  private readonly keys = new Map<string, string>();
  /** Which attempts were dispatched in which epoch. */
  private readonly places = new Set<string>();
  private readonly parameters = new Map<string, string>();
  private statements = 0;

  constructor(deps: AuditDeps) {
    this.deps = deps;
  }

  violate(invariant: string, what: string): void {
    if (this.violations.length < 50) this.violations.push({ invariant, what, at: Math.round(this.deps.world.now) });
  }

  /** Runs a statement and checks it. */
  statement(method: keyof Statements, params: unknown, run: () => unknown): unknown {
    this.statements++;
    switch (method) {
      case 'executionCommit':
        return this.commit(params as CommitBatch, run as () => { applied: boolean });
      case 'executionClaim':
        return this.claim(params as { slotId: string }, run as () => { claimed: readonly unknown[] });
      case 'runnerDeclareDead':
        return this.declareDead(params as { runnerId: string }, run);
      case 'runnerStop':
      case 'executionRelease':
        return this.giveBack(run);
      case 'executionPark':
        return this.park(params as { items: ParkItem[] }, run as () => { parked: string[] });
      case 'deadLetterAdd':
        return this.bury(params as BurialParams, run as () => { applied: boolean });
      case 'externalCommit':
        return this.commitOutside(params as ExternalTurn, run as () => { applied: boolean });
      case 'externalGiveUp':
        return this.bury(params as BurialParams, run as () => { applied: boolean });
      default:
        return this.untouched(method, run());
    }
  }

  /** An execution that another engine runs is never in the hands of a native runner: not ready, not owned, not parked. */
  private untouched<Result>(method: string, result: Result): Result {
    const { externalRuns, queue } = this.deps.tables;
    for (const executionId of externalRuns.keys()) {
      const row = queue.get(executionId);
      if (row === undefined || row.state === EXTERNAL) continue;
      this.violate('I4', `${executionId} belongs to another engine, and ${method} left it in state ${row.state}`);
    }
    return result;
  }

  /** Written at the epoch of its row and at no other (I5), and each attempt once (I3). */
  private commitOutside(turn: ExternalTurn, run: () => { applied: boolean }): { applied: boolean } {
    const { tables } = this.deps;
    const { executionId, epoch } = turn;
    const row = { ...tables.queue.get(executionId) };
    const known = new Set(tables.attempts.get(executionId)?.keys() ?? []);
    const result = this.untouched('externalCommit', run());
    if (!result.applied) return result;
    if (Math.max(row.epoch ?? -1, 1) !== epoch) {
      this.violate('I5', `${executionId}: a turn of epoch ${epoch} was written in epoch ${row.epoch}`);
    }
    for (const { nodeId, attempt } of turn.attempts) {
      if (known.has(`${attempt}:${nodeId}`)) this.violate('I3', `${executionId}: ${nodeId} attempt ${attempt} twice`);
    }
    for (const event of turn.events) {
      const facts = JSON.parse(event.facts) as Fact[];
      this.watchOf(executionId).follow(event.seq, facts, this.statements, epoch);
    }
    return result;
  }

  /** An external call starts. */
  dispatched(process: Process, request: AttemptRequest): string {
    const { tables, world, leaseMs, leaseMarginMs } = this.deps;
    const { executionId, nodeId, attempt, idempotencyKey } = request;
    const what = `${nodeId} attempt ${attempt} of ${executionId} by ${process.name}`;
    const lease = this.deps.leaseOf(process);
    const row = tables.queue.get(executionId);
    const watch = this.watchOf(executionId);
    if (!watch.hasStarted(nodeId, attempt) && !watch.mayBegin(nodeId, attempt)) {
      this.violate('I2', `${what}: dispatched before its start is durable`);
    }
    const isOutside = tables.externalRuns.has(executionId);
    // No runner owns an execution that another engine runs: whoever is asked runs the attempt, and the commit decides whose
    // result counts.
    if (!isOutside && watch.isStopped(nodeId, attempt, row?.epoch ?? -1))
      this.violate('I13', `${what}: dispatched while the execution is stopping`);
    if (!isOutside && (lease === undefined || world.now > lease.startedAt + leaseMs - leaseMarginMs)) {
      this.violate('I6', `${what}: dispatched after its lease`);
    }
    if (!isOutside && (row?.state !== OWNED || row.runnerId !== lease?.runnerId)) {
      this.violate('I4', `${what}: dispatched by runner ${lease?.runnerId}, which is not the owner (${row?.runnerId})`);
    }
    this.checkKey(idempotencyKey, `${executionId} ${nodeId} ${watch.generation}`);
    this.checkParameters(`${executionId} ${nodeId} ${attempt}`, JSON.stringify(request.params), what);
    const id = `r${this.dispatches.size}`;
    const epoch = row?.epoch ?? -1;
    const runnerId = isOutside ? undefined : lease?.runnerId;
    const place = `${executionId} ${nodeId} ${attempt} ${epoch}`;
    if (!isOutside && this.places.has(place)) this.violate('I14', `${what}: dispatched twice in epoch ${epoch}`);
    this.places.add(place);
    this.dispatches.set(id, { id, executionId, nodeId, attempt, epoch, runnerId, isFinished: false, isOver: false });
    return id;
  }

  /** A runner has finished its stop and signed off: the results that its attempts had before are recorded (I23). */
  stopped(process: Process): void {
    const { tables } = this.deps;
    const runnerId = this.deps.leaseOf(process)?.runnerId;
    const isGraceful = [...tables.slots.values()].some(
      (slot) => slot.runnerId === runnerId && slot.state === 'stopped',
    );
    if (!isGraceful) return;
    for (const dispatch of this.dispatches.values()) {
      const { executionId, nodeId, attempt, isFinished } = dispatch;
      if (dispatch.runnerId !== runnerId || !isFinished) continue;
      if (tables.attempts.get(executionId)?.has(`${attempt}:${nodeId}`) || tables.outcomes.has(executionId)) continue;
      this.violate(
        'I23',
        `${process.name} stopped, and lost what ${nodeId} attempt ${attempt} of ${executionId} came to`,
      );
    }
  }

  signalsOf(executionId: string): ReadonlyMap<string, number> {
    return this.watchOf(executionId).signals;
  }

  /** An attempt that runs again gets the parameters it was given first. */
  private checkParameters(key: string, parameters: string, what: string): void {
    const known = this.parameters.get(key) ?? parameters;
    this.parameters.set(key, known);
    if (known !== parameters) this.violate('I15', `${what}: was given ${known}, and now ${parameters}`);
  }

  private checkKey(key: string, owner: string): void {
    const known = this.keys.get(key);
    const other = this.keys.get(owner);
    if (known !== undefined && known !== owner) this.violate('I7', `${owner} and ${known} share the key ${key}`);
    if (other !== undefined && other !== key) this.violate('I7', `${owner} has two keys: ${other}, ${key}`);
    this.keys.set(key, owner);
    this.keys.set(owner, key);
  }

  private commit(batch: CommitBatch, run: () => { applied: boolean }): { applied: boolean } {
    const { tables } = this.deps;
    const before = new Map(
      batch.events.map(({ executionId }) => [executionId, { ...tables.queue.get(executionId) }] as const),
    );
    const result = run();
    if (!result.applied) return result;
    const runnerId = tables.slots.get(batch.slotId)?.runnerId;
    if (liveRunner(tables, batch.slotId) === null) this.violate('I4', `a commit of runner ${runnerId} past its fence`);
    for (const event of batch.events) {
      const row = before.get(event.executionId)!;
      if (row.runnerId !== runnerId) {
        this.violate('I4', `${event.executionId}: committed by runner ${runnerId}, owned by ${row.runnerId}`);
      }
      const facts = JSON.parse(event.facts) as Fact[];
      this.watchOf(event.executionId).follow(event.seq, facts, this.statements, row.epoch ?? -1);
    }
    for (const attempt of batch.attempts) {
      this.checkCrashes(attempt.executionId, before.get(attempt.executionId)?.crashes ?? 0);
      this.watchOf(attempt.executionId).takeovers = 0;
      const id = /"run":"(r\d+)"/.exec(attempt.outputs ?? '')?.[1] ?? /run (r\d+)/.exec(attempt.error ?? '')?.[1];
      const dispatch = id === undefined ? undefined : this.dispatches.get(id);
      const epoch = before.get(attempt.executionId)?.epoch;
      if (dispatch === undefined || !isOf(dispatch, attempt) || dispatch.epoch === epoch) continue;
      const what = `${attempt.nodeId} attempt ${attempt.attempt} of ${attempt.executionId}`;
      this.violate('I5', `${what}: a result of epoch ${dispatch.epoch} was recorded in epoch ${epoch}`);
    }
    return result;
  }

  /** The first attempt that ends after a crash resets the count of crashes. */
  private checkCrashes(executionId: string, before: number): void {
    const row = this.deps.tables.queue.get(executionId);
    if (before > 0 && row !== undefined && row.crashes > 0) {
      this.violate('I20', `${executionId} has ended an attempt, and its count of crashes is still ${row.crashes}`);
    }
  }

  private claim(params: { slotId: string }, run: () => { claimed: readonly unknown[] }): unknown {
    const result = run();
    if (result.claimed.length > 0 && liveRunner(this.deps.tables, params.slotId) === null) {
      this.violate('I4', `a claim past the fence of slot ${params.slotId}`);
    }
    return result;
  }

  private declareDead({ runnerId }: { runnerId: string }, run: () => unknown): unknown {
    const { tables } = this.deps;
    const wasValid = (tables.leases.get(runnerId) ?? 0) >= tables.clock();
    const owned = [...tables.queue.values()].filter((row) => row.state === OWNED && row.runnerId === runnerId);
    const result = run();
    const released = owned.filter((row) => row.runnerId !== runnerId);
    for (const { executionId } of released) {
      const watch = this.watchOf(executionId);
      watch.takeovers++;
      watch.crashedAlone = released.length === 1;
    }
    if (released.length > 0 && wasValid) this.violate('I4', `runner ${runnerId} was declared dead within its lease`);
    const isLive = [...tables.slots.values()].some((slot) => slot.runnerId === runnerId && slot.state === 'live');
    if (released.length > 0 && isLive)
      this.violate('I4', `runner ${runnerId} lost its executions while its fence lives`);
    return result;
  }

  /** An execution that its owner gives back has no running attempt: the next owner is the only one that works on it (I4). */
  private giveBack(run: () => unknown): unknown {
    const owned = [...this.deps.tables.queue.values()].filter(({ state }) => state === OWNED);
    const owners = new Map(owned.map(({ executionId, runnerId, epoch }) => [executionId, { runnerId, epoch }]));
    const result = run();
    for (const { executionId, nodeId, attempt, runnerId, epoch, isOver } of this.dispatches.values()) {
      const owner = owners.get(executionId);
      if (isOver || owner?.runnerId !== runnerId || owner?.epoch !== epoch) continue;
      if (this.deps.tables.queue.get(executionId)?.state === OWNED) continue;
      this.violate('I4', `${executionId} was given back by runner ${runnerId} while ${nodeId} attempt ${attempt} runs`);
    }
    return result;
  }

  private park({ items }: { items: ParkItem[] }, run: () => { parked: string[] }): unknown {
    const result = run();
    for (const { executionId, checkpoint } of items) {
      if (checkpoint !== null && result.parked.includes(executionId))
        this.checkCheckpoint(executionId, checkpoint.state);
    }
    return result;
  }

  /** A checkpoint equals the fold of the journal, and restoring the checkpoint gives the same state. */
  private checkCheckpoint(executionId: string, written: string): void {
    const { tables } = this.deps;
    const folded = JSON.stringify(toCheckpoint(foldExecution(tables, executionId)));
    if (folded !== written) this.violate('I15', `${executionId}: its checkpoint is not its folded journal`);
    const restored = fromCheckpoint(planOf(tables, executionId), startOf(tables, executionId), JSON.parse(written));
    if (JSON.stringify(toCheckpoint(restored)) !== folded) {
      this.violate('I15', `${executionId}: its checkpoint is not the same when restored`);
    }
  }

  private bury({ outcome, reason, event }: BurialParams, run: () => { applied: boolean }): unknown {
    const result = run();
    if (!result.applied) return result;
    const { executionId } = outcome;
    const watch = this.watchOf(executionId);
    const { takeovers, crashedAlone } = watch;
    if (event !== undefined) watch.follow(event.seq, JSON.parse(event.facts) as Fact[], this.statements, -1);
    // A crash proves something only if the runner held no other execution.
    const hasCrashed = takeovers > this.deps.maxPoisonRetries && crashedAlone;
    if (hasCrashed) this.excused.add(executionId);
    if (hasCrashed || this.deps.isPoison(executionId)) return result;
    const { error } = outcome;
    this.violate('I20', `${executionId} went to the dead letters (${reason} ${error}) after ${takeovers} crashes`);
    return result;
  }

  private watchOf(executionId: string): JournalWatch {
    const known = this.watches.get(executionId);
    if (known !== undefined) return known;
    const watch = new JournalWatch(planOf(this.deps.tables, executionId), {
      latestTime: this.deps.latestTime,
      violate: (invariant, what) => this.violate(invariant, `${executionId} ${what}`),
    });
    this.watches.set(executionId, watch);
    return watch;
  }
}

function isOf(dispatch: Dispatch, { executionId, nodeId, attempt }: AttemptRow): boolean {
  return dispatch.executionId === executionId && dispatch.nodeId === nodeId && dispatch.attempt === attempt;
}

interface BurialParams {
  readonly outcome: { readonly executionId: string; readonly error: string | null };
  readonly reason: string;
  readonly event?: { readonly seq: number; readonly facts: string };
}
