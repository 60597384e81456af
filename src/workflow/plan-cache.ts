// Compiled plans of published versions. A version never changes, so its plan stays until memory is short (least recently used
// first). Whether its workflow is archived may change, so that is read again now and then.

import { inTurns } from '../clock/in-turns.ts';
import type { Timers } from '../clock/timers.ts';
import { RecentCache } from '../core/cache/recent-cache.ts';
import { compileInSteps } from '../core/definition/compile.ts';
import type { ReadOptions } from '../core/definition/draft.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { WorkflowStore } from '../store/port.ts';

export interface PlanSource {
  /** null: no such version; `problem`: it exists but cannot be compiled. */
  plan(params: VersionKey): Promise<LoadedPlan | null>;
  /** The same without waiting, if the plan is cached; undefined: call `plan`. */
  known(params: VersionKey): LoadedPlan | undefined;
}

export interface VersionKey {
  readonly tenantId: string;
  readonly workflowId: string;
  readonly version: number;
}

export type LoadedPlan = { readonly plan: Plan; readonly isArchived: boolean } | { readonly problem: string };

/** May yield to the event loop. */
type CompileStored = (definition: string) => LoadedPlan | Promise<LoadedPlan>;

/** An estimate of compiled plans: ten thousand small workflows, or fewer large ones. */
const MAX_BYTES = 128 * 1024 * 1024;
const BYTES_PER_PLAN = 2_000;
const BYTES_PER_CHARACTER = 10;
const STATUS_FRESH_MS = 250;

type PlanStore = Pick<WorkflowStore, 'definitionGet' | 'workflowArchived'>;

interface Entry {
  readonly version: VersionKey;
  readonly loaded: LoadedPlan;
  readonly statusAt: number;
  /** About what it takes in memory. */
  readonly bytes: number;
}

export class PlanCache implements PlanSource {
  private readonly store: PlanStore;
  private readonly timers: Timers;
  private readonly compile: CompileStored;
  private readonly entries = new RecentCache<Entry>(MAX_BYTES);
  private readonly asked = new Map<string, Promise<LoadedPlan | null>>();
  /** The last answer, because the same version is often asked for again. */
  private last: Entry | undefined;

  constructor(store: PlanStore, timers: Timers, compile: CompileStored = compileStored) {
    this.store = store;
    this.timers = timers;
    this.compile = compile;
  }

  known(params: VersionKey): LoadedPlan | undefined {
    const isLast = this.last !== undefined && isSame(this.last.version, params);
    const entry = isLast ? this.last : this.entries.get(keyOf(params));
    this.last = entry;
    const isFresh = entry !== undefined && this.timers.monotonicMs() - entry.statusAt < STATUS_FRESH_MS;
    return isFresh ? entry.loaded : undefined;
  }

  /** Executions of one version are often claimed together. Callers that ask while an answer is on its way share it. */
  plan(params: VersionKey): Promise<LoadedPlan | null> {
    const known = this.known(params);
    if (known !== undefined) return Promise.resolve(known);
    const key = keyOf(params);
    let asked = this.asked.get(key);
    if (asked === undefined) {
      asked = this.read(params, key).finally(() => this.asked.delete(key));
      this.asked.set(key, asked);
    }
    return asked;
  }

  private async read({ tenantId, workflowId, version }: VersionKey, key: string): Promise<LoadedPlan | null> {
    const now = this.timers.monotonicMs();
    const known = this.entries.get(key);
    if (known !== undefined && 'plan' in known.loaded) {
      const isArchived = await this.store.workflowArchived({ tenantId, workflowId });
      if (isArchived !== null) return this.keep(key, { ...known, statusAt: now }, isArchived);
    }
    const row = await this.store.definitionGet({ tenantId, workflowId, version });
    if (row === null) return null;
    const loaded = await this.compile(row.definition);
    const bytes = BYTES_PER_PLAN + row.definition.length * BYTES_PER_CHARACTER;
    const entry = { version: { tenantId, workflowId, version }, loaded, statusAt: now, bytes };
    return this.keep(key, entry, row.status === 'Archived');
  }

  private keep(key: string, { loaded, ...entry }: Entry, isArchived: boolean): LoadedPlan {
    const isNews = 'plan' in loaded && loaded.isArchived !== isArchived;
    this.last = { ...entry, loaded: isNews ? { plan: loaded.plan, isArchived } : loaded };
    this.entries.set(key, this.last, entry.bytes);
    return this.last.loaded;
  }
}

function keyOf({ tenantId, workflowId, version }: VersionKey): string {
  return JSON.stringify([tenantId, workflowId, version]);
}

function isSame(one: VersionKey, other: VersionKey): boolean {
  return one.version === other.version && one.workflowId === other.workflowId && one.tenantId === other.tenantId;
}

/** Compiles each text once, as long as memory allows. For callers whose store and plan cache live only for a moment. */
export function compileKnown(maxBytes: number): CompileStored {
  const known = new RecentCache<LoadedPlan>(maxBytes);
  return async (definition) => {
    const compiled = known.get(definition) ?? (await compileStored(definition));
    known.set(definition, compiled, BYTES_PER_PLAN + definition.length * BYTES_PER_CHARACTER);
    return compiled;
  };
}

export async function compileStored(definition: string, settings: ReadOptions = {}): Promise<LoadedPlan> {
  const result = await inTurns(compileInSteps(JSON.parse(definition), { ...settings, isStored: true }));
  if (result.ok) return { plan: result.plan, isArchived: false };
  const [first] = result.problems;
  return { problem: `the stored definition is not valid: ${first?.message} (${first?.path})` };
}
