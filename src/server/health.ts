// How the installation is, from this process: what probes ask, and the contract of 004 §10.1. Every question has a deadline,
// so that a database that hangs is reported and not waited for.

import type { z } from 'zod';
import type { detailedHealthSchema, readinessSchema } from '../protocol/operation.ts';
import type { Store } from '../store/port.ts';
import { before } from './deadline.ts';

export interface HealthDeps {
  readonly store: Store;
  readonly actionTypes: ReadonlySet<string>;
}

const DEADLINE_MS = 2_000;
/** 004 §10.2: slower than this is degraded. */
const SLOW_MS = 2_000;

export class Health {
  private readonly deps: HealthDeps;

  constructor(deps: HealthDeps) {
    this.deps = deps;
  }

  async readiness(): Promise<z.infer<typeof readinessSchema>> {
    const { store, actionTypes } = this.deps;
    const [database, queue] = await Promise.all([
      probe(() => store.now()),
      probe(() => store.queueLanes({ limit: 1 })),
    ]);
    const actions = { ok: actionTypes.size > 0, detail: `${actionTypes.size} registered` };
    const isReady = database.ok && queue.ok && actions.ok;
    return { status: isReady ? 'ready' : 'notReady', checks: { database, queue, actions } };
  }

  async detailed(): Promise<z.infer<typeof detailedHealthSchema>> {
    const { store } = this.deps;
    const startedAt = performance.now();
    const [connections, runners, depths] = await Promise.all([
      store.connectionCount(),
      store.runnerList(),
      store.queueDepth(),
    ]);
    const latencyMs = elapsed(startedAt);
    const live = runners.filter(({ state }) => state === 'live');
    const owned = live.reduce((sum, runner) => sum + runner.owned, 0);
    const queueDepth = depths.reduce((sum, { depth }) => sum + depth, 0);
    return {
      status: live.length === 0 || latencyMs > SLOW_MS ? 'degraded' : 'healthy',
      checks: {
        native: { liveRunners: live.length, owned, queueDepth },
        stateStore: { latencyMs, connections },
        // Credentials come from the environment of the process: nothing to reach.
        secretsProvider: { reachable: true },
      },
    };
  }

  async status(): Promise<'healthy' | 'degraded' | 'unhealthy'> {
    try {
      return (await before(DEADLINE_MS, this.detailed())).status;
    } catch {
      return 'unhealthy';
    }
  }
}

async function probe(question: () => Promise<unknown>): Promise<{ ok: boolean; latencyMs?: number; detail?: string }> {
  const startedAt = performance.now();
  try {
    await before(DEADLINE_MS, question());
    return { ok: true, latencyMs: elapsed(startedAt) };
  } catch {
    return { ok: false, detail: 'the database did not answer' };
  }
}

const elapsed = (startedAt: number): number => Math.round((performance.now() - startedAt) * 10) / 10;
