// Runs one case of lifecycles and deliveries to quiescence and checks it. The services are the real ones; database, network,
// clocks, consumers and the application are simulated.

import { Acknowledgements } from '../../../src/delivery/acknowledgements.ts';
import type { Violation } from '../audit.ts';
import { createTables, type Statements, type Tables } from '../database/tables.ts';
import { FATES, type Fate, Network } from '../network.ts';
import { createRandom, type Random } from '../random.ts';
import { createStatements, runStatement } from '../simulated-store.ts';
import { Process, World } from '../world.ts';
import { expectedEvents, type MessagingCase } from './case.ts';
import { Client } from './client.ts';
import { compiledMachine } from './machine.ts';
import { Node, PROCESSED_AFTER_MS } from './node.ts';
import { Receivers } from './receiver.ts';
import { Watch } from './watch.ts';

export interface MessagingPlant {
  /** Statements of a changed database. */
  readonly statements?: (statements: Statements, tables: Tables) => Partial<Statements>;
  /** Changes classes; returns a function that changes them back. */
  readonly patch?: () => () => void;
}

export interface MessagingVerdict {
  readonly violations: readonly Violation[];
  readonly events: number;
  readonly virtualMs: number;
}

const EPOCH = Date.parse('2026-01-01T00:00:00Z');
const BUDGET_MS = 600_000;
const TENANT = 'acme';
const PAUSE_MS = 45_000;
const SUBSCRIPTIONS = '[{"kinds":["transition"]}]';

export async function simulateMessaging(given: MessagingCase, plant: MessagingPlant = {}): Promise<MessagingVerdict> {
  const undo = plant.patch?.();
  try {
    return await new Run(given, plant).toTheEnd();
  } finally {
    undo?.();
  }
}

class Run {
  private readonly given: MessagingCase;
  private readonly world = new World();
  private readonly tables: Tables;
  private readonly statements: Statements;
  private readonly watch: Watch;
  private readonly nodes: Node[] = [];
  private readonly receivers: Receivers;
  private readonly client: Client;
  private readonly network: Network;
  private readonly random: Random;

  constructor(given: MessagingCase, plant: MessagingPlant) {
    this.given = given;
    const { world } = this;
    let ticks = 0;
    // Never the same time twice, just as PostgreSQL's microseconds never repeat.
    this.tables = createTables(() => EPOCH + world.now + ++ticks * 1e-6);
    const statements = createStatements(this.tables);
    this.statements = { ...statements, ...plant.statements?.(statements, this.tables) };
    this.watch = new Watch(this.tables, () => world.now);
    this.random = createRandom(given.seed).fork('messaging run');
    this.network = new Network({
      world,
      tables: this.tables,
      random: this.random.fork('network'),
      methods: Object.keys(this.statements),
      apply: (method, params) =>
        this.watch.statement(method, params, () => runStatement(this.statements, method, params)),
      fates: given.fates,
      isStormy: () => world.now < given.healAtMs,
      slowMs: 2_000,
    });
    this.receivers = this.createReceivers();
    for (let index = 0; index < given.nodes; index++) this.nodes.push(this.createNode(index));
    const process = new Process(world, 'client');
    const { tables, nodes, watch } = this;
    this.client = new Client({
      world,
      process,
      tables,
      nodes,
      watch,
      random: this.random.fork('client'),
      tenantId: TENANT,
    });
  }

  async toTheEnd(): Promise<MessagingVerdict> {
    const { world, given, nodes, client, watch, receivers } = this;
    this.prepare();
    for (const node of nodes) node.boot();
    client.begin(given.instances);
    this.schedule();
    const broke = () => watch.violations.length > 0;
    const isQuiet = () =>
      world.now > given.healAtMs && client.busy === 0 && receivers.unsaid === 0 && this.openDeliveries().length === 0;
    await world.runUntil(given.healAtMs + BUDGET_MS, () => isQuiet() || broke());
    // Late messages, and messages that are wrongly still due, get time to show before the run is over.
    if (!broke()) await world.runUntil(world.now + PROCESSED_AFTER_MS * 3, () => broke());
    if (!broke()) this.check();
    return { violations: watch.violations, events: world.events, virtualMs: world.now };
  }

  private prepare(): void {
    const codes = this.given.consumers.map((_, index) => `c${index}`);
    for (const [index, { ordering }] of this.given.consumers.entries()) this.register(codes[index]!, ordering);
    this.statements.lifecycleImport({ tenantId: TENANT, ...compiledMachine(codes) });
  }

  private register(code: string, ordering: 'delivered' | 'processed'): void {
    const url = `http://${code}/`;
    this.statements.consumerPut({
      tenantId: TENANT,
      code,
      kind: 'webhook',
      url,
      subscriptions: SUBSCRIPTIONS,
      ordering,
      concurrency: 4,
    });
  }

  private schedule(): void {
    const { world, given, nodes, network } = this;
    if (given.lateConsumerAtMs !== null)
      world.schedule(given.lateConsumerAtMs, null, () => this.register('late', 'delivered'));
    for (const fault of given.faults) {
      if (fault.kind === 'trap') continue;
      world.schedule(fault.atMs, null, () => {
        if (fault.kind === 'outage') network.outageUntil = Math.max(network.outageUntil, world.now + fault.forMs);
        else if (fault.kind === 'crash') nodes[fault.node]?.crash(fault.downMs);
        else if (fault.kind === 'pause') this.pause(fault.node, fault.forMs);
        else this.cutOff(fault.node, fault.forMs);
      });
    }
  }

  private pause(node: number, forMs: number): void {
    const process = this.nodes[node]?.process;
    if (process !== undefined) process.pausedUntil = Math.max(process.pausedUntil, this.world.now + forMs);
  }

  private cutOff(node: number, forMs: number): void {
    const process = this.nodes[node]?.process;
    if (process !== undefined) process.cutOffUntil = Math.max(process.cutOffUntil, this.world.now + forMs);
  }

  private createNode(index: number): Node {
    const { world } = this;
    const sent = new Map<string, number>();
    const trapped = (method: string): Fate | null => {
      const nth = (sent.get(method) ?? 0) + 1;
      sent.set(method, nth);
      const trap = this.given.faults.find(
        (fault) => fault.kind === 'trap' && fault.node === index && fault.method === method && fault.nth === nth,
      );
      if (trap?.kind !== 'trap') return null;
      const { strike } = trap;
      if (strike === 'crash') world.schedule(0, null, () => this.nodes[index]!.crash(500));
      if (strike === 'pause') world.schedule(0, null, () => this.pause(index, PAUSE_MS));
      return FATES.includes(strike as Fate) ? (strike as Fate) : null;
    };
    const random = this.random.fork(`node ${index}`);
    const connect = (process: Process) => this.network.connect(process, { sent: trapped, heard: () => {} });
    const http = (process: Process) => this.receivers.http(process);
    return new Node({ world, connect, http, random, skewMs: random.between(-60_000, 60_000) }, `node${index}`);
  }

  private createReceivers(): Receivers {
    const { world, tables, given, watch } = this;
    const process = new Process(world, 'consumers');
    const store = this.network.connect(process, { sent: () => null, heard: () => {} });
    const deps = { store, timers: process.timers, remindMs: [PROCESSED_AFTER_MS], reactionsWaiting: () => {} };
    const acknowledgements = new Acknowledgements(deps);
    return new Receivers({
      world,
      tables,
      given,
      watch,
      process,
      acknowledgements,
      random: this.random.fork('receivers'),
    });
  }

  private openDeliveries(): string[] {
    const rows = [...this.tables.messaging.deliveries.values()];
    return rows
      .filter(({ stage }) => stage !== 'Processed' && stage !== 'Dead')
      .map(({ ackGuid, stage, consumerId }) => `${ackGuid} to ${consumerId} is ${stage}`);
  }

  private check(): void {
    const { watch, given, client, tables } = this;
    const { instances, timelines, reactions } = tables.messaging;
    if (client.busy > 0) watch.violate('liveness', `${client.busy} instances are not done`);
    for (const open of this.openDeliveries()) watch.violate('I19', `never done with: ${open}`);
    for (const { event, externalRef } of reactions.values())
      watch.violate('I1', `${externalRef}: ${event} was never triggered`);
    for (const instance of given.instances) {
      const externalRef = `L-${instance.number}`;
      const row = [...instances.values()].find((one) => one.externalRef === externalRef);
      const entries = (timelines.get(row?.instanceId ?? '') ?? []).filter(({ kind }) => kind !== 'no-op');
      const happened = entries.map(({ event }) => event);
      const isExpected = matches(happened, expectedEvents(instance));
      if (!isExpected)
        watch.violate(
          'timeline',
          `${externalRef}: ${happened.join(' ')} instead of ${expectedEvents(instance).join(' ')}`,
        );
    }
  }
}

/** More reminders than the application waited for may have come before it closed the instance, up to the most there are. */
function matches(happened: readonly (string | null)[], expected: readonly string[]): boolean {
  const plain = (events: readonly (string | null)[]) => events.filter((event) => event !== 'remind').join();
  const reminders = (events: readonly (string | null)[]) => events.filter((event) => event === 'remind').length;
  return plain(happened) === plain(expected) && reminders(happened) >= reminders(expected) && reminders(happened) <= 3;
}
