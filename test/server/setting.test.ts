// Options of an installation that change what definitions mean and where paths are, through the API.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { createTrigger, sendWebhook } from '../trigger/trigger-api.ts';
import { chain, echo, useServer } from './api-server.ts';

const SECRET = `whsec_${Buffer.from('a secret that is long enough').toString('base64')}`;
const server = useServer({
  definition: {
    retryMaxAttempts: 1,
    maxNodes: 2,
    snapshotMode: 'Full',
    retryPolicies: { twice: { maxAttempts: 2, baseDelayMs: 1 } },
  },
  expression: { maxSteps: 50 },
  trigger: { webhookBasePath: '/hooks' },
  templates: { nullText: 'nobody', strict: false },
});
const owner = { tenantId: 'acme' };
const GREEDY = '[1,2,3,4,5,6,7,8,9].map(x => x + x + x + x + x + x + x)';

async function run(definition: JsonObject): Promise<JsonObject> {
  const { workflowId } = await server.pawl.publish(definition, owner);
  const { executionId } = await server.pawl.start(workflowId, owner);
  await server.pawl.result(executionId, owner);
  return (await server.get(`/api/v1/executions/${executionId}?include=actions`)).body;
}

describe('settings of an installation', () => {
  it('the default number of attempts of a node can be set', async () => {
    const failing = await run(chain('failing', { id: 'f', actionType: 'core.fail', parameters: { retryable: true } }));
    expect(failing.actions).toHaveLength(1);
  });

  it('retry policies can be named, and execution plans refer to them', async () => {
    const metadata = {
      planId: 'named',
      planVersion: '1',
      createdAt: '2026-01-01T00:00:00Z',
      createdBy: 't',
      schemaVersion: 'v1',
    };
    const scope = { tenantId: 'acme', projectId: 'p', environmentId: 'e', repoSha: 's' };
    const step = { stepId: 's', type: 'core.fail', inputs: { retryable: true }, timeout: '1m', dependsOn: [] };
    const plan = (retryPolicyRef: string) => ({ metadata, scope, steps: [{ ...step, retryPolicyRef }] });
    expect((await run(plan('twice'))).actions).toHaveLength(2);
    await expect(server.pawl.publish(plan('often'), owner)).rejects.toThrow('no retry policy `often`');
  });

  it('the content of snapshots and the largest number of nodes can be set', async () => {
    const { contextSnapshot } = await run(chain('full', echo('say', { hello: 'world' })));
    expect(JSON.stringify(contextSnapshot)).toContain('world');
    const large = chain('large', echo('a'), echo('b'), echo('c'));
    await expect(server.pawl.publish(large, owner)).rejects.toThrow('there are 3 nodes; the limit is 2');
  });

  it.each([
    ['parameters', echo('a', { n: `{{ ${GREEDY} }}` })],
    ['core.transform', { id: 'a', actionType: 'core.transform', parameters: { expression: GREEDY } }],
  ])('the budget of an expression can be set and holds in %s', async (_, node) => {
    const greedy = await run(chain('greedy', node));
    expect(greedy).toMatchObject({ status: 'Failed', error: { message: expect.stringContaining('50 steps') } });
  });

  it('the budget of an expression can be set and holds in the outputs of a workflow', async () => {
    const definition = { ...chain('out', echo('a')), outputs: { n: `{{ ${GREEDY} }}` } };
    expect(await run(definition)).toMatchObject({
      status: 'Failed',
      error: { code: 'TEMPLATE_ERROR', message: expect.stringContaining('50 steps') },
    });
  });

  it('the budget of an expression can be set and holds in conditions and filters of triggers', async () => {
    await server.pawl.publish(chain('asked', echo('a')), owner);
    const event = { workflowId: 'asked', triggerType: 'Event' };
    await createTrigger(server, { ...event, config: { eventType: 'e' }, activationCondition: GREEDY });
    await createTrigger(server, { ...event, config: { eventType: 'e', filter: GREEDY } });
    const { body } = await server.post('/api/v1/events', { type: 'e', data: {} });
    expect(body.executions).toHaveLength(2);
    for (const { reason } of body.executions as { reason: string }[]) expect(reason).toContain('50 steps');
  });

  it('the text for null can be set, and a missing value can be null', async () => {
    const greeting = await run(
      chain('greeting', echo('say', { hello: 'Dear {{ trigger.name }}', to: '{{ trigger.x.y }}' })),
    );
    expect(greeting).toMatchObject({ status: 'Succeeded', outputs: { hello: 'Dear nobody', to: null } });
    await server.ask('PUT', '/api/v1/templates/sets/letters', { body: { displayName: 'Letters', team: 'x' } });
    const letter = { displayName: 'Letter', fields: [], bodyTemplate: 'Dear {{ answers.name }}' };
    expect((await server.post('/api/v1/templates/letters/welcome', letter)).status).toBe(201);
    const { body } = await server.post('/api/v1/templates/letters/welcome/render', { answers: {} });
    expect(body).toEqual({ renderedBody: 'Dear nobody' });
  });

  it('the path of webhooks can be set', async () => {
    await server.pawl.publish(chain('hooked', echo('a')), owner);
    const trigger = { workflowId: 'hooked', triggerType: 'Webhook', config: { secret: SECRET } };
    const { id, webhookUrl } = await createTrigger(server, trigger);
    expect(webhookUrl).toBe(`${server.url}/hooks/${id}`);
    expect((await sendWebhook(server, id, { secret: SECRET })).status).toBe(405);
    const elsewhere = {
      ...server,
      ask: ((method, path, options) =>
        server.ask(method, path.replace('/api/v1/triggers', '/hooks'), options)) as typeof server.ask,
    };
    expect((await sendWebhook(elsewhere, id, { secret: SECRET })).status).toBe(202);
  });
});
