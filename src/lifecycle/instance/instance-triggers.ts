// Applies triggers to instances: decide in memory, write by compare-and-set, in one round trip when the instance is cached. One
// linear loop per trigger: decide, write, and after a lost write read the stored state and decide again.
//
// Two triggers of one instance never both apply to the same state: the write compares the revision. A requestId applies once: the
// write looks for it in the timeline, which also holds requests that were answered without a move. A refusal always rests on the
// database, never on memory alone. If the process dies before the write, nothing happened; after it, a repeat of the request
// finds its entry (I1).

import type { Clock } from '../../clock/clock.ts';
import type { Timers } from '../../clock/timers.ts';
import { RecentCache } from '../../core/cache/recent-cache.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import { Gathering } from '../../store/gathering.ts';
import type {
  InstanceKey,
  InstanceRow,
  LifecycleMove,
  LifecycleStore,
  LoadedInstance,
} from '../../store/lifecycle-port.ts';
import type { Decision, Instance, Notice, Trigger } from '../machine/decision.ts';
import { transition } from '../machine/transition.ts';
import type { ConsumerDirectory } from './consumer-directory.ts';
import type { KnownMachine, MachineBook } from './machine-book.ts';
import { MoveCommitter, type MoveItem } from './move-committer.ts';
import { type Moving, workEvents } from './work-event.ts';

export interface TriggerOrder extends InstanceKey, Trigger {
  /** Apply only at this revision, because a timeout belongs to one stay. Otherwise the order is dropped silently. */
  readonly onlyAt?: number | undefined;
  /** The reaction that this trigger fulfils. */
  readonly reactionId?: string | undefined;
}

export interface TriggerAnswer {
  readonly applied: boolean;
  readonly instanceId: string;
  readonly from: string;
  readonly to: string;
  readonly notice?: Notice['kind'];
}

export interface InstanceTriggersDeps {
  readonly store: LifecycleStore;
  readonly machines: MachineBook;
  readonly directory: ConsumerDirectory;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly raise: (tenantId: string, key: InstanceKey, notice: Notice) => void;
  /** Messages for these consumers are durable now. */
  readonly wake: (consumerIds: readonly string[]) => void;
  readonly cacheLimit: number;
}

/**
 * The prefix of our own requestIds. Callers must not use it: a request could pass for a timeout and keep the timeout from
 * firing.
 */
export const RESERVED_REQUESTS = 'pawl:';

const LOAD_BATCH = 256;
/** Every lost round means that another trigger of the instance won. This many in a row is more than contention. */
const MAX_ROUNDS = 200;
const PAUSE_MS = 100;

interface Position {
  readonly row: InstanceRow | null;
  /** The row was read from the database for this request, and the database does not know the request's id. */
  readonly isVerified: boolean;
}

export class InstanceTriggers {
  private readonly deps: InstanceTriggersDeps;
  /** Instances as this process last saw them. An entry may be old: every write compares the revision, and no refusal rests on memory alone. */
  private readonly cache: RecentCache<InstanceRow>;
  private readonly turns = new Turns();
  private readonly committer: MoveCommitter;
  private readonly loader: Gathering<InstanceKey & { requestId: string | null }, LoadedInstance | null>;

  constructor(deps: InstanceTriggersDeps) {
    this.deps = deps;
    const { store, timers, clock, cacheLimit } = deps;
    this.cache = new RecentCache(cacheLimit);
    this.committer = new MoveCommitter({ store, timers, observe: (at) => clock.observe(at) });
    this.loader = new Gathering(timers, LOAD_BATCH, (keys) => store.instanceLoad({ keys }));
  }

  /** null: `onlyAt` no longer holds. Throws LIFECYCLE_NOT_FOUND and TRANSITION_REJECTED. */
  apply(order: TriggerOrder): Promise<TriggerAnswer | null> {
    return this.turns.take(keyText(order), () => this.run(order));
  }

  private async run(order: TriggerOrder): Promise<TriggerAnswer | null> {
    const key = keyText(order);
    let position: Position = { row: this.cache.get(key) ?? null, isVerified: false };
    let unanswered: number | null = null;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const { directory } = this.deps;
      if (directory.generation === '') await directory.refresh();
      const generation = directory.generation;
      const known = await this.machineOf(order, position.row, generation);
      const instance = this.instanceOf(position.row, order, known);
      if (position.isVerified && order.onlyAt !== undefined && instance.revision !== order.onlyAt) return null;
      const at = Math.max(this.deps.clock.now(), instance.stateSince);
      const decision = transition(known.machine, instance, order, { now: at });
      const fact = decision.facts[0];
      if (fact === undefined) {
        if (position.isVerified && (await this.isAnswer(order, instance, decision))) {
          return this.refuse(order, instance, decision);
        }
        // Cached data may be old, and so may the newest machine when there is no instance yet.
        if (position.row === null) await directory.refresh();
      } else {
        const { emissions } = decision;
        const moving = { key: instanceKey(order), ...known, instance, trigger: order, fact, emissions, at };
        const { item, missing } = this.itemOf(order, moving, generation);
        if (missing.length > 0) {
          // These consumers were removed. Messages to an unregistered consumer wait, as after an import.
          await directory.ensureCodes(order.tenantId, missing);
          continue;
        }
        const outcome = await this.committer.submit(item);
        if (outcome === 'applied') return this.applied(order, item, decision.notices);
        if (outcome === 'outdated') await directory.refresh();
        if (outcome === 'unknown') {
          unanswered = fact.revision;
          await this.pause();
        }
      }
      const loaded = await this.load(order);
      if (loaded !== null && loaded.seen !== null) return this.repeated(order, loaded, unanswered);
      position = { row: loaded, isVerified: true };
    }
    throw new PawlError('UNAVAILABLE', 'too many others trigger this instance at the same time; try again');
  }

  private async machineOf(order: TriggerOrder, row: InstanceRow | null, generation: string): Promise<KnownMachine> {
    const { machines } = this.deps;
    const known =
      row === null
        ? (machines.newestNow(order, generation) ?? (await machines.newest(order, generation)))
        : (machines.versionNow(order, row.version) ?? (await machines.version(order, row.version)));
    if (known !== null) return known;
    throw lifecycleNotFound(order.env, order.definition);
  }

  private instanceOf(row: InstanceRow | null, { externalRef }: InstanceKey, { machine }: KnownMachine): Instance {
    if (row !== null) return row;
    const stateSince = this.deps.clock.now();
    return {
      instanceId: this.deps.newId(),
      externalRef,
      state: machine.initial,
      revision: 0,
      stateSince,
      timeoutsFired: 0,
      dueAt: null,
    };
  }

  private itemOf(
    order: TriggerOrder,
    moving: Moving,
    generation: string,
  ): { readonly item: MoveItem; readonly missing: readonly string[] } {
    const { key, version, instance, fact, at } = moving;
    const { missing, bytes, ...work } = workEvents(moving, this.deps.directory, this.deps.newId);
    const payload = order.payload === undefined ? null : JSON.stringify(order.payload);
    const move: LifecycleMove = {
      ...key,
      instanceId: instance.instanceId,
      version,
      revision: instance.revision,
      event: fact.event,
      fromState: fact.from,
      toState: fact.to,
      at,
      stateSince: fact.stateSince,
      timeoutsFired: fact.timeoutsFired,
      dueAt: fact.dueAt,
      requestId: order.requestId,
      actor: order.actor ?? null,
      payload,
      cause: JSON.stringify(order.cause),
    };
    const reactionsSettled = order.reactionId === undefined ? [] : [order.reactionId];
    const item = { ...work, generation, move, reactionsSettled, bytes: bytes + (payload?.length ?? 0) };
    return { item, missing };
  }

  private applied(order: TriggerOrder, { move, deliveries }: MoveItem, notices: readonly Notice[]): TriggerAnswer {
    this.cache.set(keyText(order), rowAfter(move, this.cache.get(keyText(order)) ?? null));
    this.tell(order, notices);
    if (deliveries.length > 0) this.deps.wake(deliveries.map(({ consumerId }) => consumerId));
    return { applied: true, instanceId: move.instanceId, from: move.fromState, to: move.toState };
  }

  /** The request is in the timeline: from an earlier call, or from our own write whose reply was lost. */
  private repeated(order: TriggerOrder, loaded: LoadedInstance, unanswered: number | null): TriggerAnswer {
    const { seen, ...row } = loaded;
    this.cache.set(keyText(order), row);
    const states = { instanceId: row.instanceId, from: seen!.fromState, to: seen!.toState };
    const isMove = seen!.revision !== null;
    if (isMove && seen!.revision === unanswered) return { applied: true, ...states };
    const before = isMove
      ? `applied before: ${states.from} → ${states.to}`
      : `answered before, in ${states.to} already`;
    const message = `Request "${order.requestId}" was ${before}.`;
    this.tell(order, [{ kind: 'DuplicateRequest', message, details: { requestId: order.requestId } }]);
    return { applied: false, ...states, notice: 'DuplicateRequest' };
  }

  /** An answer without a move uses up its requestId; a rejection does not. false: the instance changed meanwhile. */
  private async isAnswer(order: TriggerOrder, instance: Instance, { notices }: Decision): Promise<boolean> {
    if (notices[0]?.kind !== 'NoOpAlreadyInState') return true;
    const { instanceId, revision } = instance;
    const { requestId, event } = order;
    return this.deps.store.instanceStay({ instanceId, revision, requestId, event: String(event) });
  }

  private refuse(order: TriggerOrder, instance: Instance, { notices }: Decision): TriggerAnswer {
    this.tell(order, notices);
    const [notice] = notices;
    if (notice?.kind !== 'NoOpAlreadyInState') {
      throw new PawlError('TRANSITION_REJECTED', notice?.message ?? 'the event is not possible', notice?.details);
    }
    const { instanceId, state } = instance;
    return { applied: false, instanceId, from: state, to: state, notice: notice.kind };
  }

  private async load(order: TriggerOrder): Promise<LoadedInstance | null> {
    const { requestId } = order;
    const loaded = await this.loader.ask({ ...instanceKey(order), requestId });
    if (loaded === null) this.cache.delete(keyText(order));
    else {
      const { seen: _, ...row } = loaded;
      this.cache.set(keyText(order), row);
    }
    return loaded;
  }

  private tell(order: TriggerOrder, notices: readonly Notice[]): void {
    for (const notice of notices) this.deps.raise(order.tenantId, instanceKey(order), notice);
  }

  private pause(): Promise<void> {
    return new Promise((resolve) => {
      this.deps.timers.after(PAUSE_MS, resolve);
    });
  }
}

function instanceKey({ tenantId, env, definition, externalRef }: InstanceKey): InstanceKey {
  return { tenantId, env, definition, externalRef };
}

function rowAfter(move: LifecycleMove, before: InstanceRow | null): InstanceRow {
  const { instanceId, version, toState: state, stateSince, timeoutsFired, dueAt } = move;
  const createdAt = before?.createdAt ?? move.at;
  const revision = move.revision + 1;
  return { ...instanceKey(move), instanceId, version, state, revision, stateSince, timeoutsFired, dueAt, createdAt };
}

export function lifecycleNotFound(env: string, name: string, version: number | null = null): PawlError {
  const which = version === null ? '' : ` version ${version} of`;
  return new PawlError('LIFECYCLE_NOT_FOUND', `there is no${which} lifecycle "${name}" in environment "${env}"`);
}

/**
 * Runs one trigger at a time per key, in the order of arrival, so that triggers in this process do not compete for one
 * revision in the database. The compare-and-set separates those of different processes.
 */
class Turns {
  private readonly last = new Map<string, Promise<unknown>>();

  take<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.last.get(key);
    const result = before === undefined ? work() : before.then(work, work);
    this.last.set(key, result);
    const leave = () => {
      if (this.last.get(key) === result) this.last.delete(key);
    };
    result.then(leave, leave);
    return result;
  }
}

function keyText({ tenantId, env, definition, externalRef }: InstanceKey): string {
  // The first three hold no control characters (S9), so no two keys have the same text.
  return `${tenantId}\n${env}\n${definition}\n${externalRef}`;
}
