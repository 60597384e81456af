// Runs one case from the first start to quiescence and checks it: warm up, faults, heal, run until nothing is left to do within a
// budget of virtual time, stop gracefully, check. The engine is the real one; everything around it is simulated.

import type { RunAttempt } from '../../src/action/attempt.ts';
import type { EngineOptions } from '../../src/engine/environment.ts';
import type { Adopt } from '../../src/execution/start/starter.ts';
import type { NewExecution, Store } from '../../src/store/port.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { Audit, type HeldLease, type Violation } from './audit.ts';
import { type Case, LEASE_MARGIN_MS } from './case.ts';
import { Client } from './client.ts';
import { isRetry } from './database/queue-statements.ts';
import { createTables, type Statements, type Tables } from './database/tables.ts';
import { compileText, definitionOf } from './definition.ts';
import { LEASE_MS } from './fault.ts';
import { checkOutcome } from './final-check.ts';
import { ForeignEngine } from './foreign-engine.ts';
import { Machine } from './machine.ts';
import { Network, type Tap } from './network.ts';
import type { OutsideWorker } from './outside-worker.ts';
import { createRandom, type Random } from './random.ts';
import { createStatements, runStatement } from './simulated-store.ts';
import { Weather } from './weather.ts';
import type { WorkflowSpec } from './workflow.ts';
import { Process, World } from './world.ts';

/** A bug put in on purpose: its replacements hold for one run. */
export interface Plant {
  /** Statements of a changed database. */
  readonly statements?: (statements: Statements, tables: Tables) => Partial<Statements>;
  /** A changed way to talk to the database, for runners. */
  readonly store?: (store: Store) => Partial<Store>;
  /** A changed way to run attempts; one for each process. */
  readonly run?: (run: RunAttempt) => RunAttempt;
  /** A changed turn service; one for each process. */
  readonly turns?: (turns: OutsideWorker['turns']) => OutsideWorker['turns'];
  readonly options?: Partial<EngineOptions>;
  /** The first seed of the search, for a bug that few seeds show. */
  readonly firstSeed?: number;
  /** Changes the engine's classes; returns a function that changes them back. */
  readonly patch?: () => () => void;
}

export interface Verdict {
  readonly violations: readonly Violation[];
  readonly counts: ReadonlyMap<string, number>;
  readonly events: number;
  readonly virtualMs: number;
}

const EPOCH = Date.parse('2026-01-01T00:00:00Z');
const BUDGET_MS = 240_000;
const STOP_BUDGET_MS = 20_000;
const MAX_POISON_RETRIES = 3;
const HINT_MS = 5;
const LOOK_FOR_DEATH_MS = 20;

export async function simulate(given: Case, plant: Plant = {}): Promise<Verdict> {
  const undo = plant.patch?.();
  const rejections: string[] = [];
  const release = catchRejections((reason) => rejections.push(reason));
  try {
    const run = new Run(given, plant);
    const verdict = await run.toTheEnd();
    const lost = rejections.map((what) => ({ invariant: 'unhandled rejection', what, at: 0 }));
    return { ...verdict, violations: [...verdict.violations, ...lost] };
  } finally {
    release();
    undo?.();
  }
}

/** Node ends a process that leaves a rejection unhandled; here it is a finding of the running case. */
function catchRejections(caught: (reason: string) => void): () => void {
  const others = process.rawListeners('unhandledRejection') as NodeJS.UnhandledRejectionListener[];
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (reason) => caught(String(reason)));
  return () => {
    process.removeAllListeners('unhandledRejection');
    for (const listener of others) process.on('unhandledRejection', listener);
  };
}

class Run {
  private readonly given: Case;
  private readonly world = new World();
  private readonly tables: Tables;
  private readonly statements: Statements;
  private readonly audit: Audit;
  private readonly network: Network;
  private readonly machines: Machine[] = [];
  private readonly client: Client;
  private readonly leases = new Map<Process, HeldLease>();
  private readonly workflows = new Map<string, WorkflowSpec>();
  private readonly counts = new Map<string, number>();
  private readonly effects = new Map<string, number>();
  private readonly weather: Weather;

  constructor(given: Case, plant: Plant) {
    this.given = given;
    const random = createRandom(given.seed).fork('run');
    const { world, counts, effects } = this;
    this.tables = createTables(() => EPOCH + world.now + this.weather.clockOffset);
    const statements = createStatements(this.tables);
    this.statements = { ...statements, ...plant.statements?.(statements, this.tables) };
    this.audit = new Audit({
      world,
      tables: this.tables,
      latestTime: () => EPOCH + world.now,
      leaseMs: LEASE_MS,
      leaseMarginMs: LEASE_MARGIN_MS,
      maxPoisonRetries: MAX_POISON_RETRIES,
      leaseOf: (process) => this.leases.get(process),
      isPoison: (executionId) => this.tables.executions.get(executionId)?.workflowId === 'poison',
    });
    this.network = new Network({
      world,
      tables: this.tables,
      random: random.fork('network'),
      methods: Object.keys(statements),
      apply: (method, params) =>
        this.audit.statement(method, params, () => runStatement(this.statements, method, params)),
      fates: given.fates,
      isStormy: () => world.now < given.healAtMs,
      slowMs: LEASE_MS * 1.3,
    });
    this.weather = new Weather({ world, network: this.network, machines: this.machines, given });
    const actions = { world, audit: this.audit, random: random.fork('actions'), effects, counts };
    const foreign = this.foreignEngine(random);
    for (let index = 0; index < given.runners; index++) {
      const connect = (process: Process) => this.connectRunner(process, index, plant);
      const options = { ...given.options, ...plant.options, maxPoisonRetries: MAX_POISON_RETRIES };
      const outcomeOf = (executionId: string, nodeId: string, attempt: number) =>
        this.scriptOf(executionId, nodeId)[attempt - 1] ?? 'ok';
      const outputsOf = (executionId: string, nodeId: string) =>
        this.workflowOf(executionId).language?.outputs.get(nodeId) ?? {};
      const deps = {
        ...actions,
        ids: random.fork(`ids ${index}`),
        connect,
        options,
        outcomeOf,
        outputsOf,
        changeRun: plant.run ?? ((run: RunAttempt) => run),
        changeTurns: plant.turns ?? ((turns: OutsideWorker['turns']) => turns),
        ...foreign,
      };
      this.machines.push(new Machine(deps, `runner${index}`));
    }
    const process = new Process(world, 'client');
    const hints = random.fork('hints');
    this.client = new Client({
      process,
      store: this.network.connect(process, { sent: () => null, heard: () => {} }),
      random: random.fork('client'),
      audit: this.audit,
      tables: this.tables,
      workWanted: (lanes) =>
        this.hint(
          () => !hints.chance(given.hintLoss),
          ({ runner }) => runner?.hint(lanes),
        ),
      adopt: (items) => this.adopt(process, hints.pick(this.machines), items),
      mailArrived: (id) =>
        this.hint(
          () => !hints.chance(given.hintLoss),
          ({ runner, outside }) => {
            runner?.mailHint(id);
            void outside?.handOver.mail(id);
          },
        ),
      handOverWanted: () =>
        this.hint(
          () => !hints.chance(given.hintLoss),
          ({ outside }) => outside?.handOver.hint(),
        ),
    });
  }

  /** Only for cases with an outside engine, so that other cases stay the same as before. */
  private foreignEngine(random: Random) {
    const { world, given, machines } = this;
    const { foreign: faults } = given;
    if (faults === null) return { foreign: null, lostHandOver: () => null };
    const isStormy = () => world.now < given.healAtMs;
    const foreign = new ForeignEngine({
      world,
      random: random.fork('foreign'),
      faults,
      isStormy,
      clock: () => this.tables.clock(),
      workers: () =>
        machines.flatMap(({ outside, process }) =>
          outside === null || process.isDead || process.pausedUntil > world.now ? [] : [outside],
        ),
    });
    const chance = random.fork('hand-over');
    const lostHandOver = () => {
      if (!isStormy() || !chance.chance(faults.lost)) return null;
      return chance.pick(['before', 'after'] as const);
    };
    return { foreign, lostHandOver };
  }

  async toTheEnd(): Promise<Verdict> {
    const { world, given, machines, client, audit } = this;
    this.publish();
    for (const machine of machines) machine.boot();
    client.begin(given);
    this.weather.begin();
    const isQuiet = () => world.now > given.healAtMs && client.busy === 0 && this.isSettled();
    const broke = () => audit.violations.length > 0;
    await world.runUntil(given.healAtMs + BUDGET_MS, () => isQuiet() || broke());
    // Zombies and late statements get time to do harm before the run is over.
    if (!broke()) await world.runUntil(world.now + LEASE_MS * 2, () => false);
    if (!broke()) await this.stopAll();
    if (!broke()) {
      const { tables, statements, effects } = this;
      checkOutcome(given, { tables, statements, audit, started: client.started, effects });
    }
    this.counts.set('checkpoints', this.tables.checkpoints.size);
    this.counts.set('kills', this.weather.kills);
    this.counts.set('repliesLost', this.network.repliesLost);
    this.counts.set('executions', this.tables.executions.size);
    return { violations: audit.violations, counts: this.counts, events: world.events, virtualMs: world.now };
  }

  /** No execution is live, and no accepted retry is about to change that. */
  private isSettled(): boolean {
    const { queue, inbox } = this.tables;
    return queue.size === 0 && ![...inbox.values()].flat().some(isRetry);
  }

  private async stopAll(): Promise<void> {
    const { machines, world, audit, tables } = this;
    for (const machine of machines) machine.stop(null);
    await world.runUntil(world.now + STOP_BUDGET_MS, () => machines.every(({ stopping }) => stopping === 0));
    for (const { stopping, process } of machines) {
      if (stopping > 0) audit.violate('I23', `${process.name} does not come to the end of its stop`);
    }
    for (const { executionId, runnerId } of tables.queue.values()) {
      if (runnerId !== null) audit.violate('I23', `${executionId} still belongs to runner ${runnerId}, which stopped`);
    }
  }

  private publish(): void {
    const add = (workflow: WorkflowSpec): void => {
      if (this.workflows.has(workflow.id)) return;
      this.workflows.set(workflow.id, workflow);
      for (const { child } of workflow.nodes) if (child !== null) add(child);
      const definition = JSON.stringify(definitionOf(workflow));
      const { checksum, format } = compileText(definition);
      const named = {
        workflowId: workflow.id,
        displayName: workflow.id,
        description: null,
        format,
        definition,
        checksum,
      };
      for (const { tenantId } of this.given.executions) this.statements.workflowPublish({ tenantId, ...named });
    };
    for (const { workflow } of this.given.executions) add(workflow);
  }

  private workflowOf(executionId: string): WorkflowSpec {
    return this.workflows.get(this.tables.executions.get(executionId)!.workflowId)!;
  }

  private scriptOf(executionId: string, nodeId: string) {
    const { language, nodes } = this.workflowOf(executionId);
    if (language !== undefined) return language.outcomes.get(nodeId) ?? [];
    return nodes.find(({ id }) => id === nodeId)!.outcomes;
  }

  private connectRunner(process: Process, index: number, plant: Plant): Store {
    const sent = (method: string) => this.weather.sent(index, method);
    const heard: Tap['heard'] = (method, params, reply, startedAt) => {
      if (method === 'runnerRegister') {
        const { runnerId } = reply as { runnerId: string };
        this.leases.set(process, { runnerId, startedAt });
      }
      const lease = this.leases.get(process);
      if (method !== 'leaseRenew' || lease?.runnerId !== (params as { runnerId: string }).runnerId) return;
      if ((reply as { renewed: boolean }).renewed) lease.startedAt = startedAt;
    };
    const store = this.network.connect(process, { sent, heard });
    return { ...store, ...plant.store?.(store) };
  }

  /** As if the request had come to that machine: if the machine dies, the answer is lost. */
  private adopt(client: Process, { process, runner }: Machine, items: NewExecution[]): ReturnType<Adopt> {
    const { world } = this;
    if (runner === null || process.isDead || process.pausedUntil > world.now) return null;
    const adopted = runner.adopt(items);
    if (adopted === null) return null;
    let isAnswered = false;
    const lost = async () => {
      while (!process.isDead && !isAnswered) await client.sleep(LOOK_FOR_DEATH_MS);
      throw new StoreError('unknown', `${process.name} is dead`);
    };
    return Promise.race([adopted, lost()]).finally(() => {
      isAnswered = true;
    });
  }

  private hint(arrives: () => boolean, tell: (machine: Machine) => void): void {
    for (const machine of this.machines) {
      if (arrives()) this.world.schedule(HINT_MS, machine.process, () => tell(machine));
    }
  }
}
