// The engine on a real PostgreSQL, for one test file: a database of its own, an engine with short intervals, the held action
// `test.work`, and the checks that every database must pass after every test (replay-check.ts). With TEST_DRIVER=temporal or
// conductor, the executions of the file run on that engine, on a real server.

import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { Fact } from '../../src/core/decider/fact.ts';
import type { Json, JsonObject } from '../../src/core/json/json.ts';
import { createPawl, type ExecutionResult, type Pawl, type PawlOptions } from '../../src/main.ts';
import type { OutsideDriver } from '../../src/store/external-port.ts';
import { type EngineServer, startEngineServer } from '../chaos/engine-server.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type ControlledAction, controlledAction } from './controlled-action.ts';
import { checkReplay, type StoredExecution } from './replay-check.ts';

export const TENANT = 'default';

/** Short intervals: nothing waits for long, and every waiting execution leaves memory soon. */
export const QUICK = { pollMs: 20, inboxPollMs: 20, parkAfterMs: 50, abortGraceMs: 150, drainMs: 2_000 } as const;

const STORED = `select e.id, e.tenant_id, o.ended_at::text as ended
  from workflow_executions e left join execution_outcomes o on o.execution_id = e.id`;

/**
 * Polls until the value matches. The limit is longer than anything takes on a busy machine; a value that never matches still
 * fails.
 */
export function eventually<Value>(ask: () => Value | Promise<Value>) {
  return expect.poll(ask, { interval: 10 });
}

type StartRequest = Parameters<Pawl['start']>[1];

export interface EngineUnderTest {
  readonly url: string;
  /** The engine of this file: it accepts requests and runs executions. */
  readonly pawl: Pawl;
  /** Attempts of `test.work` in this process, whichever engine runs them. */
  readonly work: ControlledAction;
  readonly warnings: readonly { event: string; details: Record<string, unknown> }[];
  /** Opens one more engine on the same database, with a runner unless told otherwise. It is closed after the test. */
  open(options?: Omit<PawlOptions, 'actions'>): Promise<Pawl>;
  sql<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Publishes the definition and starts an execution. */
  start(definition: JsonObject, request?: StartRequest): Promise<string>;
  /** Publishes the definition, starts an execution and waits for its end. */
  run(definition: JsonObject, request?: StartRequest): Promise<ExecutionResult>;
  /** The status of each node, by node id. */
  nodes(executionId: string): Promise<Record<string, string>>;
  attempts(executionId: string): Promise<AttemptRecord[]>;
  /** The journal, fact by fact. */
  facts(executionId: string): Promise<Fact[]>;
  /** The state of the execution in the queue; null when the execution has ended. */
  queueState(executionId: string): Promise<'ready' | 'owned' | 'parked' | null>;
}

interface AttemptRecord {
  readonly nodeId: string;
  readonly attempt: number;
  readonly status: string;
  readonly parameters: Json;
  readonly outputs: Json;
  readonly error: { code: string; message: string } | null;
}

export interface EngineSetup extends PawlOptions {
  /** Executions whose stored definition the test has destroyed, so their journals cannot be folded. */
  readonly unreadable?: Set<string>;
}

export function engineUnderTest({ unreadable = new Set(), ...options }: EngineSetup = {}): EngineUnderTest {
  const work = controlledAction('test.work');
  const warnings: { event: string; details: Record<string, unknown> }[] = [];
  const opened: Pawl[] = [];
  /** The end time of each execution when it was checked. An execution that has not changed since is not checked again. */
  const seen = new Map<string, string | null>();
  let database: TestDatabase;
  let pool: pg.Pool;
  let own: Pawl;
  let outside: EngineServer | null = null;

  /**
   * Each engine has its own `runner` option. All other options are the same for all engines of a file, unless a test says
   * otherwise.
   */
  const create = ({ runner = true, ...extra }: PawlOptions): Promise<Pawl> =>
    createPawl({
      ...outside?.config,
      ...options,
      ...extra,
      runner,
      actions: [work.definition, ...(options.actions ?? [])],
      database: { url: database.connectionString, ...extra.database },
      engine: { ...QUICK, ...options.engine, ...extra.engine },
      onWarning: (event, details) => warnings.push({ event, details }),
    });

  beforeAll(async () => {
    const driver = process.env.TEST_DRIVER as OutsideDriver | undefined;
    [database, outside] = await Promise.all([
      testDatabase(),
      driver === undefined ? null : startEngineServer(driver, { isLasting: false }),
    ]);
    pool = new pg.Pool({ connectionString: database.connectionString, max: 2 });
    // The database is dropped together with its connections, and some of them may still be closing.
    pool.on('connect', (client) => client.on('error', () => {}));
    pool.on('error', () => {});
    own = await create(options.runner === undefined ? {} : { runner: options.runner });
  });
  afterEach(async () => {
    work.forget();
    for (const pawl of opened.splice(0)) await pawl.close();
    const stored = await sql<{ id: string; tenant_id: string; ended: string | null }>(STORED);
    const news = stored.filter(({ id, ended }) => !unreadable.has(id) && (ended === null || seen.get(id) !== ended));
    for (const { id, ended } of news) seen.set(id, ended);
    await checkReplay(own, news.map(storedExecution));
  });
  afterAll(async () => {
    // Make sure that the executions did not run natively by mistake.
    if (outside !== null) expect(await sql('select driver from external_runs limit 1')).not.toEqual([]);
    await own?.close();
    await pool?.end();
    await database?.drop();
    await outside?.stop();
  });

  const storedExecution = ({ id, tenant_id }: { id: string; tenant_id: string }): StoredExecution => ({
    executionId: id,
    tenantId: tenant_id,
  });

  async function sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await pool.query<Row>(text, values)).rows;
  }

  async function start(definition: JsonObject, request: StartRequest = {}): Promise<string> {
    const { tenantId } = request;
    const { workflowId } = await own.publish(definition, tenantId === undefined ? {} : { tenantId });
    return (await own.start(workflowId, request)).executionId;
  }

  return {
    get url() {
      return database.connectionString;
    },
    get pawl() {
      return own;
    },
    work,
    warnings,
    async open(extra = {}) {
      const pawl = await create(extra);
      opened.push(pawl);
      return pawl;
    },
    sql,
    start,
    async run(definition, request = {}) {
      const executionId = await start(definition, request);
      return own.result(executionId, request.tenantId === undefined ? {} : { tenantId: request.tenantId });
    },
    async nodes(executionId) {
      const { state } = await own.executions.inspect(TENANT, executionId);
      return Object.fromEntries(state.plan.nodes.map(({ id }, index) => [id, state.nodes[index]!.status]));
    },
    async attempts(executionId) {
      const rows = await own.store.executionAttempts({ executionId, parameters: true });
      return rows.map(({ nodeId, attempt, status, parameters, outputs, error }) => ({
        nodeId,
        attempt,
        status,
        parameters: parsed(parameters) as Json,
        outputs: parsed(outputs) as Json,
        error: parsed(error) as AttemptRecord['error'],
      }));
    },
    async facts(executionId) {
      const journal = await own.store.executionJournal({ executionId, afterSeq: -1, limit: 10_000 });
      return journal.flatMap(({ facts }) => JSON.parse(facts) as Fact[]);
    },
    async queueState(executionId) {
      const [row] = await sql<{ state: 0 | 1 | 2 }>('select state from execution_queue where execution_id = $1', [
        executionId,
      ]);
      return row === undefined ? null : (['ready', 'owned', 'parked'] as const)[row.state];
    },
  };
}

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text));
