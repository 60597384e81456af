// The cost of credentials: an attempt with a connection compared with the same attempt without one, also among ten thousand
// connections; and a webhook with a verified signature compared with POST /execute.

import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { defineAction } from '../../src/main.ts';
import { median } from '../measurement.ts';
import { openPawl, runQueue } from '../native-run.ts';
import type { Bench, Scenario } from '../scenario.ts';
import { chainWorkflow, enqueue, publish } from '../workload.ts';
import { ask, SERVING, startClient } from './http.ts';

const ROUNDS = 5;
const OTHER_CONNECTIONS = 10_000;
const SECRET = 'a secret of the benchmark';

export const connectionScenario: Scenario = {
  name: 'connections',
  about: 'a cached secret in an attempt, alone and among 10,000 connections; a verified webhook beside /execute',
  async run(bench) {
    await measureAttempts(bench);
    await measureWebhook(bench);
  },
};

async function measureAttempts({ database, report, scaled }: Bench): Promise<void> {
  await database.clear();
  const count = scaled(8_000);
  const pawl = { actions: [tokenAction] };
  const filling = await openPawl(database, { ...pawl, ...SERVING });
  const create = { name: 'bench', connector: 'bench', kind: 'token', token: SECRET };
  await post(`${filling.url}/api/v1/connections`, create);
  const node = { id: 'ask', actionType: tokenAction.type, parameters: { x: 1 } };
  const graph = (id: string) => ({ id, displayName: id, startNode: 'ask' });
  const without = await publish(filling, { ...graph('bench-bare'), nodes: [node] });
  const named = await publish(filling, { ...graph('bench-named'), nodes: [{ ...node, connection: 'bench' }] });
  /** One run of each in every round, so that other load on the machine affects both. */
  const measured = async () => {
    const costs: number[] = [];
    const rates: number[] = [];
    for (let round = -1; round < ROUNDS; round++) {
      const us: number[] = [];
      for (const workload of round % 2 === 0 ? [without, named] : [named, without]) {
        await database.clear();
        await enqueue(filling, workload, count);
        const { javascriptUs, seconds } = await runQueue(database, count, { pawl });
        us[workload === named ? 1 : 0] = javascriptUs / count;
        if (round >= 0 && workload === named) rates.push(count / seconds);
      }
      if (round >= 0) costs.push(us[1]! - us[0]!);
    }
    return { addedUs: median(costs), rate: median(rates) };
  };
  const alone = await measured();
  report.row('connection-attempt', 'pawl', '\u00b5s added to an attempt', alone.addedUs);
  report.ratio('cached-secret/us', alone.addedUs, { atMost: 5 });
  await database.query(
    `insert into connections (id, tenant_id, name, principal_id, connector, kind, settings, key_id, sealed)
     select gen_random_uuid(), tenant_id, 'other-' || n, '', connector, kind, settings, key_id, sealed
     from connections, generate_series(1, $1::int) n where name = 'bench'`,
    [OTHER_CONNECTIONS],
  );
  const among = await measured();
  report.row('connection-attempt', 'pawl: 10,000 connections', '\u00b5s added to an attempt', among.addedUs);
  report.ratio('among-10000-connections/alone', among.rate / alone.rate, { atLeast: 0.9 });
  await database.query('delete from connections');
  await filling.close();
}

async function measureWebhook({ database, report, scaled }: Bench): Promise<void> {
  await database.clear();
  const pawl = await openPawl(database, SERVING);
  const client = await startClient();
  try {
    await publish(pawl, chainWorkflow('one-step', 1));
    const config = { verification: 'github', secret: SECRET };
    const { id } = await post(`${pawl.url}/api/v1/triggers`, {
      workflowId: 'one-step',
      triggerType: 'Webhook',
      config,
    });
    const body = JSON.stringify({ x: 1 });
    const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
    const load = { port: Number(new URL(pawl.url!).port), connections: 64, requests: scaled(10_000) };
    const targets = {
      execute: { ...load, path: '/api/v1/workflows/one-step/execute', body: JSON.stringify({ trigger: { x: 1 } }) },
      webhook: {
        ...load,
        ...{ path: `/api/v1/triggers/${id}`, body },
        headers: { 'X-GitHub-Event': 'push', 'X-Hub-Signature-256': signature },
        idHeader: 'X-GitHub-Delivery',
      },
    };
    const rates = { execute: [] as number[], webhook: [] as number[] };
    for (let round = -1; round < 3; round++) {
      for (const kind of ['execute', 'webhook'] as const) {
        await database.clear();
        const { waits, seconds } = await ask(client, targets[kind]);
        if (round >= 0) rates[kind].push(waits.length / seconds);
      }
    }
    report.row('webhook-verified', 'pawl', 'requests/s', median(rates.webhook));
    report.row('webhook-verified', 'pawl: /execute', 'requests/s', median(rates.execute));
    report.ratio('verified-webhook/execute', median(rates.webhook) / median(rates.execute), { atLeast: 0.8 });
  } finally {
    client.disconnect();
    await pawl.close();
  }
}

async function post(url: string, body: unknown): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

/** Reads its token, if its node names a connection. */
const tokenAction = defineAction({
  type: 'bench.ask',
  version: '1.0.0',
  connector: 'bench',
  category: 'Bench',
  params: z.object({ x: z.number() }),
  outputs: z.object({ x: z.number() }),
  run(params) {
    return { outputs: params };
  },
});
