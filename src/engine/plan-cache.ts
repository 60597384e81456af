// Compiled plans of published versions. A version never changes, so its plan is kept until memory asks for it back (the
// least recently used goes first); whether its workflow is archived may change, so that is asked again now and then.

import { compileDefinition } from '../core/definition/compile.ts';
import type { ReadOptions } from '../core/definition/draft.ts';
import type { WorkflowStore } from '../store/port.ts';
import type { LoadedPlan, PlanSource, Timers } from './environment.ts';

const CAPACITY = 1_000;
const STATUS_FRESH_MS = 250;

interface Entry {
  loaded: LoadedPlan;
  statusAt: number;
}

export class PlanCache implements PlanSource {
  private readonly store: WorkflowStore;
  private readonly timers: Timers;
  private readonly settings: ReadOptions;
  private readonly entries = new Map<string, Entry>();

  constructor(store: WorkflowStore, timers: Timers, settings: ReadOptions = {}) {
    this.store = store;
    this.timers = timers;
    this.settings = settings;
  }

  async plan(params: { tenantId: string; workflowId: string; version: number }): Promise<LoadedPlan | null> {
    const { tenantId, workflowId, version } = params;
    const key = JSON.stringify([tenantId, workflowId, version]);
    const now = this.timers.monotonicMs();
    const entry = this.entries.get(key);
    if (entry !== undefined && now - entry.statusAt < STATUS_FRESH_MS) return entry.loaded;
    const row = await this.store.definitionGet({ tenantId, workflowId, version });
    if (row === null) return null;
    const isArchived = row.status === 'Archived';
    const compiled = entry?.loaded ?? compileStored(row.definition, this.settings);
    const loaded = 'problem' in compiled ? compiled : { plan: compiled.plan, isArchived };
    this.entries.delete(key);
    this.entries.set(key, { loaded, statusAt: now });
    if (this.entries.size > CAPACITY) this.entries.delete(this.entries.keys().next().value!);
    return loaded;
  }
}

function compileStored(definition: string, settings: ReadOptions): LoadedPlan {
  const result = compileDefinition(JSON.parse(definition), settings);
  if (result.ok) return { plan: result.plan, isArchived: false };
  const [first] = result.problems;
  return { problem: `the stored definition is not valid: ${first?.message} (${first?.path})` };
}
