// One small but complete check of an installation on a database: a graph with retries and a sleep, a pipeline with a callback, a
// lifecycle with a consumer, a signal, a cancel, and many executions while half of the runner processes are killed with -9. The
// client is this process; the runners are separate processes, as in production.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import loan from '../../examples/lifecycle/loan.json' with { type: 'json' };
import loanPolicies from '../../examples/lifecycle/loan-policies.json' with { type: 'json' };
import { createPawl, type Pawl } from '../../src/main.ts';

/** How the processes of the check reach the database. */
export interface FieldDatabase {
  readonly url: string;
  readonly directUrl?: string;
  readonly schema?: string;
}

export interface FieldResult {
  readonly executions: number;
  readonly seconds: number;
  /** Everything that went wrong. */
  readonly problems: readonly string[];
}

const TENANT = 'default';
const CLI = fileURLToPath(new URL('../../bin/pawl', import.meta.url));
const GRAPH = {
  id: 'field-graph',
  displayName: 'Retries and sleeps',
  startNode: 'flaky',
  nodes: [
    {
      id: 'flaky',
      actionType: 'core.sometimes-fails',
      parameters: { failTimes: 1, said: '{{ trigger.word }}' },
      policies: { retry: { maxAttempts: 3, baseDelayMs: 10 } },
      edges: [{ targetNode: 'nap' }],
    },
    { id: 'nap', actionType: 'core.delay', parameters: { durationMs: 50 }, edges: [{ targetNode: 'last' }] },
    { id: 'last', actionType: 'core.echo', parameters: { said: '{{ context.data.flaky.said }}' } },
  ],
};
const SLEEPER = {
  id: 'field-sleeper',
  displayName: 'Sleeps for an hour',
  startNode: 'nap',
  nodes: [{ id: 'nap', actionType: 'core.delay', parameters: { durationMs: 3_600_000 } }],
};
const PATIENCE_MS = 120_000;

export interface FieldOptions {
  readonly executions: number;
  /** What happens to the database after half of the executions have started. */
  readonly midway?: (() => Promise<void>) | undefined;
  readonly fleet?: Fleet | undefined;
}

/** Half of the runners end in the middle of the check: killed with -9, or replaced as in a rolling deployment. */
export interface Fleet {
  readonly runners: number;
  readonly end: 'killed' | 'replaced';
}

export async function fieldCheck(
  database: FieldDatabase,
  { executions, midway = async () => {}, fleet = { runners: 2, end: 'killed' } }: FieldOptions,
): Promise<FieldResult> {
  const startedAt = performance.now();
  const problems: string[] = [];
  const sink = await openSink();
  const pawl = await createPawl({
    ...{ serve: true, runner: false, database, server: { port: 0 } },
    ...{ auth: { allowLooseAuth: true }, http: { allowLoopback: true } },
  });
  const runners = Array.from({ length: fleet.runners }, (_, n) => startRunner(database, pawl.url!, `runner-${n}`));
  try {
    await pawl.publish(GRAPH);
    await pawl.publish(SLEEPER);
    const note = async (what: string, work: Promise<string | null>) => {
      const problem = await before(work).catch((error: unknown) => String(error));
      if (problem !== null) problems.push(`${what}: ${problem}`);
    };
    await Promise.all([
      note('callback', pipelineWithCallback(pawl, sink)),
      note('lifecycle', lifecycleWithConsumer(pawl)),
      note('signal and cancel', signalAndCancel(pawl)),
    ]);
    const endHalf = async () => {
      for (const runner of runners.slice(0, fleet.runners / 2)) {
        runner.kill(fleet.end === 'killed' ? 'SIGKILL' : 'SIGTERM');
        if (fleet.end === 'replaced') runners.push(startRunner(database, pawl.url!, `runner-${runners.length}`));
      }
      await midway();
    };
    await note('executions', manyExecutions(pawl, executions, endHalf));
    const stuck = await pawl.store.queueAudit();
    for (const { executionId, problem } of stuck) problems.push(`${executionId}: ${problem}`);
  } finally {
    for (const runner of runners) runner.kill('SIGKILL');
    await pawl.close();
    sink.server.close();
  }
  return { executions, seconds: Math.round((performance.now() - startedAt) / 100) / 10, problems };
}

/** Each execution is recorded once, whichever runner was killed meanwhile. */
async function manyExecutions(pawl: Pawl, count: number, midway: () => Promise<void>): Promise<string | null> {
  const words = Array.from({ length: count }, (_, index) => `word ${index}`);
  const half = Math.floor(count / 2);
  // As a client should do: a start without an answer is repeated under the same requestId.
  const start = (word: string): Promise<{ executionId: string }> =>
    pawl.start(GRAPH.id, { trigger: { word }, requestId: word }).catch(async () => {
      await delay(200);
      return start(word);
    });
  const result = (executionId: string): ReturnType<Pawl['result']> =>
    pawl.result(executionId).catch(async () => {
      await delay(200);
      return result(executionId);
    });
  const started = await Promise.all(words.slice(0, half).map(start));
  // By now half of the executions are running, some of them on the runner that is killed.
  await midway();
  started.push(...(await Promise.all(words.slice(half).map(start))));
  const results = await Promise.all(started.map(({ executionId }) => result(executionId)));
  const wrong = results.filter(
    ({ status, outputs }, index) =>
      status !== 'Succeeded' || (outputs as { said?: string } | undefined)?.said !== words[index],
  );
  return wrong.length === 0 ? null : `${wrong.length} of ${count} are wrong: ${JSON.stringify(wrong[0])}`;
}

async function pipelineWithCallback(pawl: Pawl, sink: Sink): Promise<string | null> {
  const { workflowId } = await pawl.publish({
    name: 'field-callback',
    tasks: {
      open: { url: sink.url, method: 'POST', body: { callback: '{{wait.paid.url}}' } },
      paid: { needs: ['open'], wait_for_webhook: { timeout: '10m' } },
      ship: {
        needs: ['paid'],
        if: "tasks.paid.status == 'received'",
        url: sink.url,
        method: 'POST',
        body: { id: '{{tasks.paid.body.id}}' },
      },
    },
  });
  const { executionId } = await pawl.start(workflowId);
  const opened = (await sink.next()) as { callback: string };
  const answer = await fetch(opened.callback, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'p-1' }),
  });
  if (!answer.ok) return `the callback was answered ${answer.status}`;
  const shipped = (await sink.next()) as { id: string };
  const { status } = await pawl.result(executionId);
  return shipped.id === 'p-1' && status === 'Succeeded' ? null : `${status}, shipped ${JSON.stringify(shipped)}`;
}

async function lifecycleWithConsumer(pawl: Pawl): Promise<string | null> {
  const underwriter = { id: 'note', actionType: 'core.echo', parameters: { loan: '{{ trigger.externalRef }}' } };
  await pawl.publish({
    id: 'notify-underwriter',
    displayName: 'Notify',
    startNode: 'note',
    nodes: [underwriter],
  });
  await pawl.lifecycles.import({ definition: loan, policies: loanPolicies });
  await pawl.lifecycles.onWork({ consumer: 'kyc' }, () => ({ stage: 'Processed' }));
  const decided = Promise.withResolvers<void>();
  const subscriptions = [{ env: 'prod', definition: 'loan', events: ['approve', 'reject'] }];
  await pawl.lifecycles.onWork({ consumer: 'application', subscriptions }, () => {
    decided.resolve();
    return { stage: 'Processed' };
  });
  const at = { env: 'prod', definition: 'loan', externalRef: `loan-${Date.now()}` };
  const submit = { ...at, event: 'submit', requestId: 'form', payload: { amount: 5_000, applicant: 'Ada' } };
  const first = await pawl.lifecycles.trigger(submit);
  const second = await pawl.lifecycles.trigger(submit);
  if (!first.applied || second.applied) return `applied ${first.applied} and ${second.applied}`;
  await decided.promise;
  return null;
}

async function signalAndCancel(pawl: Pawl): Promise<string | null> {
  const { executionId } = await pawl.start(SLEEPER.id);
  const signalled = (type: 'PAUSE' | 'RESUME') =>
    pawl.executions.signal(TENANT, executionId, { signalId: `field-${type}`, type, payload: {} } as never);
  const status = async () => (await pawl.executions.get(TENANT, executionId)).status;
  await until(async () => (await status()) === 'Running');
  await signalled('PAUSE');
  await until(async () => (await status()) === 'Paused');
  if (!(await signalled('PAUSE')).repeated) return 'a repeated signal was taken for a new one';
  await signalled('RESUME');
  await until(async () => (await status()) === 'Running');
  await pawl.executions.cancel(TENANT, executionId);
  const ended = await pawl.result(executionId);
  return ended.status === 'Cancelled' ? null : `ended as ${ended.status}`;
}

function startRunner({ url, directUrl, schema }: FieldDatabase, publicUrl: string, name: string): ChildProcess {
  const env = {
    ...process.env,
    DATABASE_URL: url,
    ...(directUrl === undefined ? {} : { PAWL_DATABASE_DIRECT_URL: directUrl }),
    ...(schema === undefined ? {} : { PAWL_DATABASE_SCHEMA: schema }),
    PAWL_ENGINE_NAME: name,
    PAWL_ENGINE_LEASE_MS: '3000',
    PAWL_HTTP_ALLOW_LOOPBACK: 'true',
    PAWL_SERVER_PUBLIC_URL: publicUrl,
  };
  return spawn(process.execPath, [CLI, 'runner'], { env, stdio: 'ignore' });
}

interface Sink {
  readonly url: string;
  readonly server: Server;
  /** The body of the next request. */
  next(): Promise<unknown>;
}

async function openSink(): Promise<Sink> {
  const bodies: unknown[] = [];
  const takers: ((body: unknown) => void)[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    response.end('{}');
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString() || '{}');
    const take = takers.shift();
    if (take === undefined) bodies.push(body);
    else take(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/`,
    server,
    next: () => (bodies.length > 0 ? Promise.resolve(bodies.shift()) : new Promise((resolve) => takers.push(resolve))),
  };
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(50);
}

async function before<Result>(work: Promise<Result>): Promise<Result> {
  const timer = new AbortController();
  const late = delay(PATIENCE_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`not done after ${PATIENCE_MS / 1_000} s`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}
