// The smallest possible outside engine: it asks what is open, runs that, and asks again. A test that wants another order, a
// repeat or an omission calls the turn service itself.

import { randomInt } from 'node:crypto';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { AttemptRequest, AttemptResult } from '../../src/action/attempt.ts';
import { systemTimers } from '../../src/clock/system-timers.ts';
import type { Json, JsonObject } from '../../src/core/json/json.ts';
import { DEFAULT_ENGINE_OPTIONS } from '../../src/engine/environment.ts';
import type { Open } from '../../src/engine/turn/open.ts';
import { OutsideTurns, type OutsideTurnsDeps } from '../../src/engine/turn/outside-turn.ts';
import { createPawl, type Pawl } from '../../src/main.ts';
import { PlanCache } from '../../src/workflow/plan-cache.ts';
import { controlledAction } from '../engine/controlled-action.ts';
import { checkReplay } from '../engine/replay-check.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

export const TENANT = 'default';

export interface OutsideUnderTest {
  readonly pawl: Pawl;
  /** Every attempt that was run, as `node:attempt`. */
  readonly ran: string[];
  /** Executions that were told of mail. */
  readonly told: string[];
  /** The answer of an attempt; by default its parameters. */
  answer: (request: AttemptRequest) => AttemptResult | Promise<AttemptResult>;
  /** A process that takes turns; each process has a memory of its own. */
  process(overrides?: Partial<OutsideTurnsDeps>): OutsideTurns;
  /** Publishes the definition, and accepts an execution for the outside engine. */
  start(definition: JsonObject, trigger?: Json): Promise<string>;
  publish(definition: JsonObject): Promise<void>;
  /** Runs everything that is open until the execution has ended, children first. */
  drive(turns: OutsideTurns, executionId: string, epoch?: number): Promise<void>;
  status(executionId: string): Promise<string>;
  send(executionId: string, mail: { kind: 'cancel' | 'signal' | 'webhook' } & JsonObject): Promise<void>;
}

export const succeed = (outputs: Json = {}): AttemptResult => ({ ok: true, outputsText: JSON.stringify(outputs) });

export function outsideUnderTest(): OutsideUnderTest {
  let database: TestDatabase;
  let pawl: Pawl;
  const executions: string[] = [];
  const echo = ({ params }: AttemptRequest): AttemptResult => succeed(params as Json);

  beforeAll(async () => {
    database = await testDatabase();
    const actions = [controlledAction('test.outside').definition];
    pawl = await createPawl({ actions, database: { url: database.connectionString }, engine: { pollMs: 20 } });
  });
  afterEach(async () => {
    outside.ran.splice(0);
    outside.told.splice(0);
    outside.answer = echo;
    await checkReplay(
      pawl,
      executions.splice(0).map((executionId) => ({ executionId, tenantId: TENANT })),
    );
  });
  afterAll(async () => {
    await pawl?.close();
    await database?.drop();
  });

  const outside: OutsideUnderTest = {
    get pawl() {
      return pawl;
    },
    ran: [],
    told: [],
    answer: echo,
    process(overrides = {}) {
      const { store } = pawl;
      return new OutsideTurns({
        store,
        timers: systemTimers,
        observer: { warn() {}, count() {} },
        plans: new PlanCache(store, systemTimers),
        options: { ...DEFAULT_ENGINE_OPTIONS, abortGraceMs: 200 },
        newId: () => crypto.randomUUID(),
        newSeed: () => randomInt(2 ** 31),
        callbackUrl: (executionId, nodeId) => `http://localhost/${executionId}/${nodeId}`,
        mailSent: (executionId) => outside.told.push(executionId),
        async run(request) {
          outside.ran.push(`${request.nodeId}:${request.attempt}`);
          return outside.answer(request);
        },
        ...overrides,
      });
    },
    async publish(definition) {
      await pawl.publish(definition);
    },
    async start(definition, trigger = {}) {
      const { workflowId, version } = await pawl.publish(definition);
      const executionId = crypto.randomUUID();
      const item = {
        executionId,
        tenantId: TENANT,
        workflowId,
        version,
        format: 'tasks' in definition ? 'pipeline' : 'steps' in definition ? 'plan' : 'graph',
        priority: 5,
        trigger: JSON.stringify(trigger),
        spec: null,
        principal: '{"userId":"u"}',
        correlationId: executionId,
        requestId: executionId,
        parentId: null,
        parentNode: null,
        depth: 0,
        projectId: 'default',
        environmentId: 'default',
        createdAt: Date.now(),
        driver: 'temporal' as const,
      };
      await pawl.store.executionStart({ items: [item] });
      executions.push(executionId);
      return executionId;
    },
    async drive(turns, executionId, epoch = 1) {
      let open: Open = await turns.advance({ executionId, epoch });
      while (open.ended !== true) {
        await Promise.all(
          open.attempts.map(({ nodeId, attempt }) => turns.runAttempt({ executionId, epoch, nodeId, attempt })),
        );
        for (const child of open.children) await outside.drive(turns, child.executionId);
        const isIdle = open.attempts.length + open.children.length === 0;
        if (isIdle) await new Promise((resolve) => setTimeout(resolve, 5));
        open = await turns.advance({ executionId, epoch });
      }
    },
    status: async (executionId) => (await pawl.executions.get(TENANT, executionId)).status,
    async send(executionId, mail) {
      if (mail.kind === 'cancel') await pawl.executions.cancel(TENANT, executionId);
      else if (mail.kind === 'signal') await pawl.executions.signal(TENANT, executionId, mail as never);
    },
  };
  return outside;
}

export const attemptRows = async ({ pawl }: OutsideUnderTest, executionId: string) =>
  (await pawl.store.executionAttempts({ executionId, parameters: true })).map(
    ({ nodeId, attempt, status }) => `${nodeId}:${attempt} ${status}`,
  );
