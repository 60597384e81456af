// Executions of other engines that this process has met lately, folded: a turn after the last one costs a look instead of a load. What is
// kept here is a guess. Every turn on it is committed by comparison (the journal's key), so an old guess writes nothing; it is brought up
// to date by what the journal has beyond it, or loaded again.

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
  /** What each running attempt was given, by node. */
  readonly given: Map<number, Json>;
  /** Monotonic time of the last look at the database. */
  seenAt: number;
  /** Others have written to it: a child that they started may not be there yet. */
  hasNews: boolean;
  /** Children that are known to exist. */
  readonly knownChildren: Set<string>;
  /** About what it takes in memory. */
  bytes: number;
}

type Recall =
  | { readonly found: Remembered }
  | { readonly found: null }
  | { readonly found: null; readonly broken: Extract<Loaded, { ok: false }> };

/** No journal row comes after it: the execution is loaded whole. */
const EVERYTHING = 2 ** 31 - 1;
const MAX_REMEMBERED = 1_000;
const MAX_BYTES = 128 * 1024 * 1024;
/** About what a state takes beside its data. */
const BYTES_PER_NODE = 500;

export class OutsideMemory {
  private readonly deps: OutsideMemoryDeps;
  /** The least recently used comes first. */
  private readonly remembered = new Map<string, Remembered>();
  private bytes = 0;

  constructor(deps: OutsideMemoryDeps) {
    this.deps = deps;
  }

  /** As it was when somebody last looked; undefined: it is not here. */
  peek(executionId: string, epoch: number): Remembered | undefined {
    const found = this.remembered.get(executionId);
    return found?.resident.epoch === epoch ? found : undefined;
  }

  /** As it is now; `withMail`: with what waits for it in its queue. Null: at this epoch there is nothing to do. */
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
      // What this process knew of an attempt may be of an earlier one.
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

  /** It was used, and may have grown: the least recently used make room for it. */
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
