// Erasure: afterwards no table but the audit log knows the person, and the data of others is unchanged.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../src/core/json/json.ts';
import { personDigest } from '../../src/execution/erasure.ts';
import { defineAction } from '../../src/main.ts';
import { pawl } from '../cli/dev-process.ts';
import { delay, graph, subworkflow } from '../engine/workflow-definition.ts';
import { tablesWith, withClient } from '../support/database.ts';
import { tokenFor, useServer } from './api-server.ts';

const PERSON = 'ada.lovelace@example.com';
const folder = mkdtempSync(join(tmpdir(), 'pawl-erase-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const keeps = defineAction({
  type: 'core.keeps',
  version: '1.0.0',
  connector: 'core',
  category: 'Data',
  displayName: 'Keeps',
  description: 'Writes a log line and an artifact.',
  params: z.object({ who: z.string() }),
  outputs: z.object({ who: z.string() }),
  async run({ who }, { artifacts, log }) {
    log.info(`works for ${who}`);
    await artifacts.put({ kind: 'custom', name: `${who}.txt` }, `all about ${who}`);
    return { outputs: { who } };
  },
});
const server = useServer({ actions: [keeps], artifact: { folder } });
const tenantId = 'acme';

async function run(workflowId: string, who: string): Promise<string> {
  const { body } = await server.post(`/api/v1/workflows/${workflowId}/execute`, { trigger: { who } });
  return body.executionId as string;
}

const erase = (body: JsonObject, tenant = tenantId) => server.post(`/api/v1/admin/tenants/${tenant}/erase`, body);
const files = () => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

describe('erasing a person', () => {
  it('erasing counts first, refuses while an execution is live, then leaves only a tombstone', async () => {
    const keep = { id: 'keep', actionType: 'core.keeps', parameters: { who: '{{ trigger.who }}' } };
    await server.pawl.publish(graph('child', [{ ...keep, id: 'kept' }]), { tenantId });
    const call = { ...subworkflow('call', 'child'), parameters: { who: '{{ trigger.who }}' } };
    await server.pawl.publish(graph('about', [{ ...keep, edges: [{ targetNode: 'call' }] }, call]), { tenantId });
    await server.pawl.publish(graph('naps', [delay('nap', 3_600_000)]), { tenantId });
    const machine = {
      ...{ env: 'prod', name: 'claim', initial: 'open', states: { open: {}, closed: { final: true } } },
      ...{ events: { close: { code: 1001 } }, transitions: [{ from: 'open', on: 'close', to: 'closed' }] },
    };
    await server.post('/api/v1/lifecycles', { definition: machine });
    const subscriptions = [{ kinds: ['execution'] }, { env: 'prod', definition: 'claim' }];
    await server.post('/api/v1/consumers', { code: 'crm', kind: 'pull', subscriptions });
    for (const who of [PERSON, 'grace@example.com']) {
      await server.pawl.result(await run('about', who), { tenantId });
      const body = { externalRef: `claim of ${who}`, event: 'close', requestId: `close ${who}`, payload: { who } };
      expect((await server.post('/api/v1/lifecycles/prod/claim/trigger', body)).status).toBeLessThan(300);
    }
    const live = await run('naps', PERSON);
    expect(await tablesWith(server.database.connectionString, PERSON)).toEqual(
      expect.arrayContaining([
        'action_executions',
        'action_logs',
        'lifecycle_timeline',
        'messages',
        'workflow_executions',
      ]),
    );
    const before = files().length;

    const asked = { person: PERSON, reason: 'her request' };
    const refused = await erase(asked);
    expect(refused).toMatchObject({ status: 409, body: { error: { details: { executionIds: [live] } } } });
    await server.post(`/api/v1/executions/${live}/cancel`, {});
    await server.pawl.result(live, { tenantId });

    // Events that are not published yet would become deliveries between the two calls.
    const unpublished = () =>
      withClient(
        server.database.connectionString,
        async (client) => (await client.query('select from commit_batches')).rowCount,
      );
    await expect.poll(unpublished, { timeout: 30_000 }).toBe(0);
    const counted = await erase(asked);
    // The execution, its child and the cancelled execution; one artifact of each of the first two.
    expect(counted).toMatchObject({
      status: 200,
      body: { dryRun: true, erased: { executions: 3, artifacts: 2, instances: 1 } },
    });
    expect(await tablesWith(server.database.connectionString, PERSON)).toContain('workflow_executions');

    const erased = await erase({ ...asked, dryRun: false });
    expect(erased.body).toEqual({ dryRun: false, erased: counted.body.erased });
    expect(await tablesWith(server.database.connectionString, PERSON)).toEqual([]);
    expect(files()).toHaveLength(before - 2);
    const { data } = (await server.get('/api/v1/admin/audit?action=tenant.erase')).body as { data: JsonObject[] };
    expect(data).toMatchObject([
      { actor: 'ada', target: `person/${personDigest(PERSON)}`, details: { reason: 'her request', executions: 3 } },
    ]);
    expect((await server.get('/api/v1/admin/audit/verify')).body).toMatchObject({ ok: true });
    expect(await tablesWith(server.database.connectionString, 'grace@example.com')).toEqual(
      expect.arrayContaining(['action_executions', 'lifecycle_instances', 'messages', 'workflow_executions']),
    );
  });

  it('erasing needs the role System, and works from the command line too', async () => {
    const token = await tokenFor({ roles: ['Admin'] });
    const body = { reason: 'curiosity' };
    expect((await server.post('/api/v1/admin/tenants/acme/erase', body, { token })).status).toBe(403);
    const env = { PAWL_URL: server.url, PAWL_TOKEN: await tokenFor() };
    const args = ['admin', 'erase', '--tenant', 'acme', '--person', 'grace@example.com', '--reason', 'r'];
    const { stdout } = await pawl(env, ...args, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ dryRun: true, erased: { executions: 2 } });
    expect((await pawl(env, ...args, '--yes')).code).toBe(0);
    expect(await tablesWith(server.database.connectionString, 'grace@example.com')).toEqual([]);
  });

  it('erasing a tenant removes all its data and keeps its definitions', async () => {
    const executionId = await run('child', 'somebody');
    await server.pawl.result(executionId, { tenantId });
    expect((await erase({ reason: 'they left', dryRun: false })).status).toBe(200);
    expect((await server.get('/api/v1/executions')).body).toMatchObject({ data: [] });
    expect((await server.get('/api/v1/workflows/child')).status).toBe(200);
  });
});
