// Many processes on one database: the cost of a start does not grow with the number of runners, and a server that stops drops no
// request.

import { Agent, get } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { countQueries, type QueryCounter } from '../../bench/query-counter.ts';
import { command } from '../cli/dev-process.ts';
import { engineUnderTest } from '../engine/engine-under-test.ts';
import { echo, graph, to } from '../engine/workflow-definition.ts';

const engine = engineUnderTest({ runner: false });
const NEVER_MS = 600_000;

describe('the cost of a start', () => {
  /** The statements that runners send for executions. Their services poll now and then, whatever is started. */
  const statementsOf = (counter: QueryCounter) =>
    [...counter.byName].reduce((sum, [name, times]) => sum + (/^(execution|queue)_/.test(name) ? times : 0), 0);

  it('a start costs as many statements with eight runners as with one, alone and in a burst', {
    timeout: 120_000,
  }, async () => {
    await engine.pawl.publish(graph('two-steps', [echo('one', {}, to('two')), echo('two')]));
    const statementsWith = async (runners: number) => {
      const counter = await countQueries(engine.url);
      onTestFinished(() => counter.close());
      // Nothing polls during the test.
      const settings = { pollMs: NEVER_MS, inboxPollMs: NEVER_MS, leaseMs: NEVER_MS };
      const opened = await Promise.all(
        Array.from({ length: runners }, (_, n) =>
          engine.open({ database: { url: counter.url }, engine: { ...settings, name: `${runners}-${n}` } }),
        ),
      );
      const start = async () => engine.pawl.result((await engine.pawl.start('two-steps')).executionId);
      // Starts executions until every runner has reported that it has room.
      for (let n = 0; n < 2 * runners; n++) await start();
      const before = statementsOf(counter);
      for (let n = 0; n < 40; n++) await start();
      const alone = statementsOf(counter) - before;
      const caller = async () => {
        for (let n = 0; n < 15; n++) await start();
      };
      await Promise.all(Array.from({ length: 40 }, caller));
      const burst = statementsOf(counter) - before - alone;
      await Promise.all(opened.map((pawl) => pawl.close()));
      return { alone, burst };
    };
    const one = await statementsWith(1);
    expect(one.alone).toBeGreaterThanOrEqual(40);
    const eight = await statementsWith(8);
    // Seven more runners that each looked every time would send seven times as many statements.
    expect(eight.alone).toBeLessThanOrEqual(one.alone * 1.25);
    // If the work were cut into pieces for eight runners, it would need several times as many statements.
    expect(eight.burst).toBeLessThanOrEqual(one.burst * 1.5);
  });
});

describe('a server that gets SIGTERM', () => {
  it('a stopping server answers every request during its notice period, on old and new connections', async () => {
    const environment = { DATABASE_URL: engine.url, PAWL_SERVER_STOP_DELAY_MS: '3000' };
    const server = command(environment, ['serve', '--insecure', '--no-runner', '--port', '0']);
    onTestFinished(() => void server.process.kill('SIGKILL'));
    await expect.poll(() => server.output.stderr, { timeout: 30_000 }).toMatch(/ready at http/);
    const url = /ready at (\S+)/.exec(server.output.stderr)![1]!;
    const statuses = new Set<number | string>();
    let served = 0;
    const client = async () => {
      const agent = new Agent({ keepAlive: true });
      for (let stays = true; stays; ) {
        const { status, isLast } = await ask(`${url}/api/v1/workflows`, agent);
        statuses.add(status);
        served++;
        stays = !isLast;
      }
      agent.destroy();
    };
    let isStopping = false;
    /** Connects anew for each request, as through a load balancer that does not know of the stop yet. */
    const stranger = async () => {
      for (let after = 0; after < 10; after += isStopping ? 1 : 0) {
        statuses.add((await ask(`${url}/api/v1/workflows`)).status);
      }
    };
    const clients = Promise.all([...Array.from({ length: 6 }, client), stranger(), stranger()]);
    await expect.poll(() => served).toBeGreaterThan(20);
    server.process.kill('SIGTERM');
    isStopping = true;
    await clients;
    expect(await ask(`${url}/health/ready`)).toMatchObject({ status: 503 });
    expect([...statuses]).toEqual([200]);
    expect(await server.finished).toMatchObject({ code: 0 });
  }, 60_000);
});

/** `isLast`: the server closes the connection and wants no more requests on it. */
function ask(url: string, agent?: Agent): Promise<{ status: number | string; isLast: boolean }> {
  return new Promise((resolve) => {
    get(url, agent === undefined ? {} : { agent }, (answer) => {
      answer.resume();
      answer.once('end', () =>
        resolve({ status: answer.statusCode!, isLast: answer.headers.connection === 'close' && agent !== undefined }),
      );
    }).once('error', (error) => resolve({ status: String(error), isLast: true }));
  });
}
