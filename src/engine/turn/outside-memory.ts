// Recently used executions of other engines, folded: a later turn costs a look instead of a load. The memory is a guess. Every
// turn is committed by comparison (the journal's key), so an old guess writes nothing; it is brought up to date from the journal,
// or loaded again.

import type { Timers } from '../../clock/timers.ts';
import { DECIDER_VERSION } from '../../core/decider/decide.ts';
import { idOf, nodeAt } from '../../core/decider/frame.ts';
import type { Json } from '../../core/json/json.ts';
import type { OutsideDriver } from '../../store/external-port.ts';
import type { Store } from '../../store/port.ts';
import { foldFurther } from './journal.ts';
import { type Loaded, type LoadingDeps, loadResident, restoreParameters, waitingInputs } from './loading.ts';
import type { Resident } from './resident.ts';

export interface OutsideMemoryDeps extends LoadingDeps {
  readonly store: Store;
  readonly timers: Timers;
  readonly observeTime: (databaseMs: number) => void;
}

export interface Remembered {
  readonly resident: Resident;
  readonly driver: OutsideDriver;
  /** The parameters of running attempts, by node. */
  readonly given: Map<number, Json>;
  /** Monotonic time of the last look at the database. */
  seenAt: number;
  /** Other processes have written to it: a child that they started may not be here yet. */
  hasNews: boolean;
  /** Children that are known to exist. */
  readonly knownChildren: Set<string>;
  /** Estimated memory. */
  bytes: number;
}

type Recall =
  | { readonly found: Remembered }
  | { readonly found: null }
  | { readonly found: null; readonly broken: Extract<Loaded, { ok: false }> };

/** Beyond every journal row, so the whole execution is loaded. */
const EVERYTHING = 2 ** 31 - 1;
const MAX_REMEMBERED = 1_000;
const MAX_BYTES = 128 * 1024 * 1024;
/** Estimated size of a state beside its data. */
const BYTES_PER_NODE = 500;

export class OutsideMemory {
  private readonly deps: OutsideMemoryDeps;
  /** Least recently used first. */
  private readonly remembered = new Map<string, Remembered>();
  private bytes = 0;

  constructor(deps: OutsideMemoryDeps) {
    this.deps = deps;
  }

  /** The last known state; undefined: not in memory. */
  peek(executionId: string, epoch: number): Remembered | undefined {
    const found = this.remembered.get(executionId);
    return found?.resident.epoch === epoch ? found : undefined;
  }

  /** The current state; `withMail`: with its waiting mail. null: nothing to do at this epoch. */
  async recall(executionId: string, epoch: number, withMail: boolean): Promise<Recall> {
    const { store, timers, observeTime } = this.deps;
    const known = this.peek(executionId, epoch);
    const afterSeq = known === undefined ? EVERYTHING : known.resident.state.seq - 1;
    const look = await store.externalLook({ executionId, epoch, afterSeq });
    if (look === null) {
      this.forget(executionId);
      return { found: null };
    }
    observeTime(look.at);
    if (known === undefined) return this.load(executionId, epoch, look.driver, withMail);
    const { resident } = known;
    known.seenAt = timers.monotonicMs();
    if (look.journal.length > 0) {
      foldFurther(resident.state, look.journal, look.attempts);
      // The known parameters may belong to an earlier attempt.
      const [given] = await restoreParameters(store, [resident.state]);
      known.given.clear();
      for (const [node, params] of given!) known.given.set(node, params);
      resident.caughtUp();
      known.hasNews = true;
    }
    const inbox = withMail ? { ...resident.execution, inbox: look.inbox } : null;
    if (inbox !== null) resident.queue.push(...waitingInputs(inbox, resident.state, false, epoch));
    return { found: known };
  }

  private async load(executionId: string, epoch: number, driver: OutsideDriver, withMail: boolean): Promise<Recall> {
    const { store, timers } = this.deps;
    const [execution] = await store.executionLoad({ executionIds: [executionId], deciderVersion: DECIDER_VERSION });
    if (execution === undefined) return { found: null };
    const loaded = await loadResident(this.deps, execution, { epoch, crashes: 0 });
    if (!loaded.ok) return { found: null, broken: loaded };
    const { resident } = loaded;
    const given = new Map(resident.takeGiven());
    const seenAt = timers.monotonicMs();
    if (!withMail) resident.queue.length = 0;
    const found = { resident, driver, given, seenAt, knownChildren: new Set<string>(), hasNews: true, bytes: 0 };
    this.keep(executionId, found);
    return { found };
  }

  /** It was used and may have grown: the least recently used make room for it. */
  keep(executionId: string, found: Remembered): void {
    this.forget(executionId);
    const { state } = found.resident;
    let nodes = state.nodes.length;
    for (const frame of state.frames.values()) nodes += frame.nodes.length;
    found.bytes = state.contextBytes + nodes * BYTES_PER_NODE;
    this.remembered.set(executionId, found);
    this.bytes += found.bytes;
    for (const oldest of this.remembered.keys()) {
      const isRoomy = this.remembered.size <= MAX_REMEMBERED && this.bytes <= MAX_BYTES;
      if (isRoomy || oldest === executionId) return;
      this.forget(oldest);
    }
  }

  forget(executionId: string): void {
    const found = this.remembered.get(executionId);
    if (found === undefined) return;
    this.remembered.delete(executionId);
    this.bytes -= found.bytes;
  }
}

/** The recorded parameters of the node's current attempt. */
export async function parametersOf(store: Store, { resident, given }: Remembered, node: number): Promise<Json> {
  const known = given.get(node);
  if (known !== undefined) return known;
  const { execution, state } = resident;
  const { executionId } = execution;
  const { startedSeq } = nodeAt(state, node)!;
  const [row] = await store.executionInputs({ items: [{ executionId, seq: startedSeq }] });
  const params = (JSON.parse(row?.inputs ?? '{}') as Record<string, Json>)[idOf(state, node)] ?? {};
  given.set(node, params);
  return params;
}
