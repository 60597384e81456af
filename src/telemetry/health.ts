// The health of the installation as this process sees it: the answers to probes, and the health contract of
// docs/observability.md. Every check has a deadline, so a hanging database is reported instead of waited for.

import type { z } from 'zod';
import type { ArtifactHealth, Artifacts } from '../artifact/artifacts.ts';
import type { Drivers } from '../driver/drivers.ts';
import type { HeldPlaces } from '../engine/attempt/attempt-desk.ts';
import type { Executions } from '../execution/executions.ts';
import type { detailedHealthSchema, readinessSchema } from '../protocol/operation.ts';
import type { ProviderHealth, Secrets } from '../secret/secrets.ts';
import type { Store } from '../store/port.ts';
import { before } from './deadline.ts';

export type DetailedHealth = z.infer<typeof detailedHealthSchema>;

export interface HealthDeps {
  readonly store: Store;
  readonly actionTypes: ReadonlySet<string>;
  /** The process is about to stop and wants no new requests. */
  readonly isStopping?: () => boolean;
  /** Absent in a process that starts nothing. */
  readonly executions?: Pick<Executions, 'startLatencyP95Ms'>;
  /** Absent in a process that reads no secrets. */
  readonly secrets?: Pick<Secrets, 'health'>;
  /** Absent in a process that does not know. */
  readonly artifacts?: Pick<Artifacts, 'health'> | undefined;
  /** The engines besides the native one; absent: there are none. */
  readonly drivers?: Pick<Drivers, 'health' | 'configured'> | undefined;
  /** Absent in a process that runs nothing. */
  readonly places?: (() => HeldPlaces | null) | undefined;
}

const DEADLINE_MS = 4_000;
const CROWDED_MS = 10_000;
/** A slower answer counts as degraded. */
const SLOW_MS = 2_000;
/** Beyond this, new runs are refused. */
const SLOW_START_MS = 5_000;

/** No reason to be degraded: an installation whose outputs are small needs no store for large ones. */
const NO_ARTIFACTS: ArtifactHealth = { isThere: false, writable: false, detail: 'this process knows of none' };

export class Health {
  private readonly deps: HealthDeps;

  constructor(deps: HealthDeps) {
    this.deps = deps;
  }

  async readiness(): Promise<z.infer<typeof readinessSchema>> {
    const { store, actionTypes, isStopping = () => false } = this.deps;
    const [database, queue] = await Promise.all([
      probe(() => store.now()),
      probe(() => store.queueLanes({ limit: 1 })),
    ]);
    const actions = { ok: actionTypes.size > 0, detail: `${actionTypes.size} registered` };
    const isReady = database.ok && queue.ok && actions.ok && !isStopping();
    const stopping = isStopping() ? { stopping: { ok: false, detail: 'the process is about to stop' } } : {};
    return { status: isReady ? 'ready' : 'notReady', checks: { database, queue, actions, ...stopping } };
  }

  /** Never rejects: a silent database is reported too. */
  async detailed(): Promise<DetailedHealth> {
    const startedAt = performance.now();
    try {
      return this.report(await before(DEADLINE_MS, this.ask()));
    } catch {
      return unreachable(elapsed(startedAt));
    }
  }

  private async ask() {
    const [stored, providers, engines, artifacts] = await Promise.all([
      this.askStore(),
      this.deps.secrets?.health() ?? [],
      this.askEngines(),
      this.askArtifacts(),
    ]);
    return { ...stored, providers, engines, artifacts };
  }

  private async askArtifacts(): Promise<ArtifactHealth> {
    const { artifacts } = this.deps;
    if (artifacts === undefined) return NO_ARTIFACTS;
    const silent = { isThere: true, writable: false, detail: 'it does not answer' };
    return before(DEADLINE_MS - 500, artifacts.health()).catch(() => silent);
  }

  private async askStore() {
    const { store } = this.deps;
    const startedAt = performance.now();
    const [health, runners, depths] = await Promise.all([store.storeHealth(), store.runnerList(), store.queueDepth()]);
    return { health, runners, depths, latencyMs: elapsed(startedAt) };
  }

  /** A shorter deadline than the database's: a hanging engine must not look like a hanging database. */
  private async askEngines(): Promise<Awaited<ReturnType<Drivers['health']>>> {
    const { drivers } = this.deps;
    if (drivers === undefined) return NO_ENGINES;
    return before(DEADLINE_MS - 500, drivers.health()).catch(() => {
      const silent = { status: 'degraded', detail: 'it does not answer', numbers: {} } as const;
      const outside = [...drivers.configured].filter((driver) => driver !== 'native');
      return new Map(outside.map((driver) => [driver, silent]));
    });
  }

  private report(asked: Awaited<ReturnType<Health['ask']>>): DetailedHealth {
    const { health, runners, depths, providers, engines, artifacts, latencyMs } = asked;
    const { connections, writable, backlog, busIsAway } = health;
    const live = runners.filter(({ state, hasLease }) => state === 'live' && hasLease);
    const startP95 = this.deps.executions?.startLatencyP95Ms() ?? null;
    const places = this.deps.places?.() ?? null;
    const isCrowded = isCrowdedBy(places);
    const isSlow = latencyMs > SLOW_MS || (startP95 ?? 0) > SLOW_START_MS;
    const secretsProvider = secretsHealth(providers);
    const { isThere: hasArtifacts, ...artifactStore } = artifacts;
    const isFull = hasArtifacts && !artifactStore.writable;
    const sick = [...engines].filter(([, { status }]) => status !== 'healthy');
    const isDegraded =
      live.length === 0 || isSlow || busIsAway || isCrowded || isFull || !secretsProvider.reachable || sick.length > 0;
    const native = {
      liveRunners: live.length,
      owned: live.reduce((sum, runner) => sum + runner.owned, 0),
      queueDepth: depths.reduce((sum, { depth }) => sum + depth, 0),
      ...(startP95 === null ? {} : { startLatencyP95Ms: startP95 }),
      ...(places === null ? {} : { places: { ...places, holders: [...places.holders] } }),
    };
    const reasons = [
      ...(writable ? [] : ['the database takes no writes']),
      ...(live.length === 0 ? [noRunner(native.queueDepth)] : []),
      ...(latencyMs > SLOW_MS ? [`the database answers slowly (${Math.round(latencyMs)} ms)`] : []),
      ...((startP95 ?? 0) > SLOW_START_MS ? [`starts take ${Math.round(startP95!)} ms`] : []),
      ...(busIsAway ? ['an event bus cannot be reached'] : []),
      ...(secretsProvider.reachable ? [] : [`secrets cannot be had: ${secretsProvider.detail}`]),
      ...(isFull ? ['artifacts cannot be written'] : []),
      ...sick.map(([driver, { detail }]) => `${driver}: ${detail ?? 'starting a run takes more than five seconds'}`),
      ...(isCrowded ? [crowdedBy(places!)] : []),
    ];
    return {
      status: !writable ? 'unhealthy' : isDegraded ? 'degraded' : 'healthy',
      reasons,
      checks: {
        native,
        ...engineChecks(engines),
        stateStore: { latencyMs, connections, writable },
        secretsProvider,
        artifactStore,
        eventBus: { connected: writable && !busIsAway, backlogDepth: backlog },
      },
    };
  }

  async brief(): Promise<Pick<DetailedHealth, 'status' | 'reasons'>> {
    const { status, reasons } = await this.detailed();
    return { status, reasons };
  }
}

const NO_ENGINES: Awaited<ReturnType<Drivers['health']>> = new Map();

function engineChecks(engines: typeof NO_ENGINES): Pick<DetailedHealth['checks'], 'temporal' | 'conductor'> {
  const checks = [...engines].map(([driver, { status, detail, numbers }]) => [
    driver,
    { status, ...(detail === undefined ? {} : { detail }), ...numbers },
  ]);
  return Object.fromEntries(checks) as Pick<DetailedHealth['checks'], 'temporal' | 'conductor'>;
}

/** An attempt has waited long for a place, because others hold them. */
const isCrowdedBy = (places: HeldPlaces | null): boolean =>
  places !== null && places.used >= places.total && places.longestMs > CROWDED_MS;

/** Without names, because this text is public. The detailed report names the holders. */
function crowdedBy({ waiting, total, longestMs, holders }: HeldPlaces): string {
  const most = holders[0]?.held ?? 0;
  const whose = `one tenant holds ${most} of ${total} places of this process`;
  return `${waiting} attempts wait, the first for ${Math.round(longestMs / 1_000)} s: ${whose}`;
}

const noRunner = (depth: number): string =>
  depth === 0 ? 'no runner is alive' : `no runner is alive, and ${depth} executions are live`;

/** All providers as one check: attempts that need an unreachable one wait. */
function secretsHealth(providers: readonly ProviderHealth[]): DetailedHealth['checks']['secretsProvider'] {
  const away = providers.filter(({ reachable }) => !reachable);
  if (away.length > 0) {
    return { reachable: false, detail: away.map(({ provider, detail }) => `${provider}: ${detail}`).join('; ') };
  }
  const slowest = Math.max(0, ...providers.map(({ latencyMs = 0 }) => latencyMs));
  const names = ['table', 'environment', ...providers.map(({ provider }) => provider)];
  return { reachable: true, latencyMs: slowest, detail: names.join(', ') };
}

function unreachable(latencyMs: number): DetailedHealth {
  return {
    status: 'unhealthy',
    reasons: ['the database does not answer'],
    checks: {
      native: { liveRunners: 0, owned: 0, queueDepth: 0 },
      stateStore: { latencyMs, connections: 0, writable: false },
      secretsProvider: { reachable: false, detail: 'the database did not answer' },
      artifactStore: { writable: false, detail: 'not asked: the database did not answer' },
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
