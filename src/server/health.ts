// How the installation is, from this process: what probes ask, and the contract of 004 §10.1. Every question has a deadline,
// so that a database that hangs is reported and not waited for.

import type { z } from 'zod';
import type { Executions } from '../engine/execution/executions.ts';
import type { detailedHealthSchema, readinessSchema } from '../protocol/operation.ts';
import type { Store } from '../store/port.ts';
import { before } from './deadline.ts';

type DetailedHealth = z.infer<typeof detailedHealthSchema>;

export interface HealthDeps {
  readonly store: Store;
  readonly actionTypes: ReadonlySet<string>;
  /** Absent where nothing is started. */
  readonly executions?: Pick<Executions, 'startLatencyP95Ms'>;
}

const DEADLINE_MS = 4_000;
/** 004 §10.2: slower than this is degraded. */
const SLOW_MS = 2_000;
/** 004 §10.2: new runs are refused. */
const SLOW_START_MS = 5_000;

/** 004 §10.1 asks for them. They take no part in the status: nothing here needs them. */
const NOT_HERE = {
  secretsProvider: {
    reachable: false,
    detail: 'there is none: connectors have their credentials from the environment of their process',
  },
  artifactStore: {
    writable: false,
    detail: 'there is none: outputs are in the state store, and may point to artifacts that are kept elsewhere',
  },
};

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

  /** Never rejects: a database that does not answer is an answer. */
  async detailed(): Promise<DetailedHealth> {
    const startedAt = performance.now();
    try {
      return this.report(await before(DEADLINE_MS, this.ask()), elapsed(startedAt));
    } catch {
      return unreachable(elapsed(startedAt));
    }
  }

  private async ask() {
    const { store } = this.deps;
    const [health, runners, depths] = await Promise.all([store.storeHealth(), store.runnerList(), store.queueDepth()]);
    return { health, runners, depths };
  }

  private report({ health, runners, depths }: Awaited<ReturnType<Health['ask']>>, latencyMs: number): DetailedHealth {
    const { connections, writable, backlog, busIsAway } = health;
    const live = runners.filter(({ state }) => state === 'live');
    const startP95 = this.deps.executions?.startLatencyP95Ms() ?? null;
    const isSlow = latencyMs > SLOW_MS || (startP95 ?? 0) > SLOW_START_MS;
    const native = {
      liveRunners: live.length,
      owned: live.reduce((sum, runner) => sum + runner.owned, 0),
      queueDepth: depths.reduce((sum, { depth }) => sum + depth, 0),
      ...(startP95 === null ? {} : { startLatencyP95Ms: startP95 }),
    };
    return {
      status: !writable ? 'unhealthy' : live.length === 0 || isSlow || busIsAway ? 'degraded' : 'healthy',
      checks: {
        native,
        stateStore: { latencyMs, connections, writable },
        ...NOT_HERE,
        eventBus: { connected: writable && !busIsAway, backlogDepth: backlog },
      },
    };
  }

  async status(): Promise<DetailedHealth['status']> {
    return (await this.detailed()).status;
  }
}

function unreachable(latencyMs: number): DetailedHealth {
  return {
    status: 'unhealthy',
    checks: {
      native: { liveRunners: 0, owned: 0, queueDepth: 0 },
      stateStore: { latencyMs, connections: 0, writable: false },
      ...NOT_HERE,
      eventBus: { connected: false },
    },
  };
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
