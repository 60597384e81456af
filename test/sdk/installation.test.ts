// Templates and the installation itself, through the client, against a real server.

import { beforeAll, describe, expect, it } from 'vitest';
import { createClient, PawlApiError, type PawlClient } from '../../src/sdk/client.ts';
import { tokenFor, useServer } from '../server/api-server.ts';

const server = useServer();
let client: PawlClient;
beforeAll(async () => {
  client = createClient({ url: server.url, token: await tokenFor() });
});

describe('templates', () => {
  it('the client stores documents in versions and renders them', async () => {
    const { documents } = client;
    expect(await documents.putSet('briefs', { displayName: 'Briefs', team: 'web' })).toMatchObject({ id: 'briefs' });
    const content = { displayName: 'Hello', fields: [{ key: 'name' }] };
    await documents.add('briefs', 'hello', { ...content, bodyTemplate: 'Hi {{ name }}' });
    await documents.add('briefs', 'hello', { ...content, bodyTemplate: 'Hello {{ name }}' });
    const answers = { answers: { name: 'Ada' } };
    expect(await documents.render('hello', answers)).toEqual({ renderedBody: 'Hello Ada' });
    expect(await documents.render({ set: 'briefs', id: 'hello' }, answers, { version: 1 })).toEqual({
      renderedBody: 'Hi Ada',
    });
    await documents.setVersionEnabled('briefs', 'hello', 2, false);
    expect(await documents.get('hello')).toMatchObject({ version: 1, bodyTemplate: 'Hi {{ name }}' });
    expect((await documents.versions('briefs', 'hello')).data.map(({ version }) => version)).toEqual([2, 1]);
    expect((await documents.list({ set: 'briefs' })).data).toHaveLength(1);
    expect((await documents.sets({ team: 'web' })).data).toMatchObject([await documents.set('briefs')]);
  });

  it('the client creates a workflow template, and instantiating it makes a draft', async () => {
    const { workflowTemplates } = client;
    const node = { id: 'say', actionType: 'core.echo', parameters: { to: '{{ config.channel }}' } };
    const definition = { id: 'x', displayName: 'X', startNode: 'say', nodes: [node] };
    const content = { displayName: 'Greeter', description: 'Greets', category: 'Demo', definition, configSchema: {} };
    await workflowTemplates.create({ id: 'sdk-greeter', ...content });
    await workflowTemplates.replace('sdk-greeter', { ...content, tags: ['hello'] });
    expect((await workflowTemplates.list({ search: 'hello' })).data.map(({ id }) => id)).toContain('sdk-greeter');
    const request = { displayName: 'Greet us', config: { channel: 'C1' } };
    const { workflowId } = await workflowTemplates.instantiate('sdk-greeter', request);
    expect(await client.workflows.get(workflowId, { version: 'draft' })).toMatchObject({
      definition: { nodes: [{ parameters: { to: 'C1' } }] },
    });
    await workflowTemplates.delete('sdk-greeter');
    await expect(workflowTemplates.get('sdk-greeter')).rejects.toMatchObject({ status: 404, name: PawlApiError.name });
  });
});

describe('the installation', () => {
  it('the client reads health, metrics, schemas and the audit log', async () => {
    const { system, admin } = client;
    expect(await system.live()).toEqual({ status: 'ok' });
    expect(await system.ready()).toMatchObject({ status: 'ready' });
    expect(await system.health()).toEqual({ status: 'healthy', reasons: [] });
    expect(await system.detailedHealth()).toMatchObject({ checks: { native: { liveRunners: 1 } } });
    expect(await system.metrics()).toContain('# TYPE');
    expect((await system.schemas()).data).toContain('/schemas/graph.schema.json');
    expect(await system.schema('graph')).toMatchObject({ title: 'Pawl graph workflow' });
    const node = { id: 'say', actionType: 'core.echo' };
    await client.workflows.create({ id: 'audited', displayName: 'Audited', startNode: 'say', nodes: [node] });
    await client.workflows.publish('audited');
    const { data } = await admin.audit({ target: 'workflow/audited' });
    expect(data.map(({ action }) => action)).toContain('workflow.publish');
    expect((await admin.tenants()).data.map(({ tenantId }) => tenantId)).toContain('acme');
  });
});
