// core.template.render in a workflow: its outputs and its errors.

import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { chain, useServer } from '../server/api-server.ts';

const server = useServer();
const owner = { tenantId: 'acme' };

beforeAll(async () => {
  await server.ask('PUT', '/api/v1/templates/sets/letters', { body: { displayName: 'Letters', team: 'Sales' } });
  const fields = [{ key: 'name', required: true }];
  for (const greeting of ['Hello', 'Dear']) {
    const bodyTemplate = `${greeting} {{ name }}{{ extras.end | default: "." }}`;
    await server.post('/api/v1/templates/letters/welcome', { displayName: 'Welcome', fields, bodyTemplate });
  }
});

async function run(parameters: JsonObject) {
  const retry = { maxAttempts: 1 };
  const node = { id: 'render', actionType: 'core.template.render', parameters, policies: { retry } };
  const { workflowId } = await server.pawl.publish(chain('letter', node), owner);
  const { executionId } = await server.pawl.start(workflowId, owner);
  return server.pawl.result(executionId, owner);
}

describe('core.template.render', () => {
  const letter = { templateSetId: 'letters', templateId: 'welcome', answers: { name: 'Ada' } };

  it('core.template.render returns the body and the version of the document', async () => {
    expect(await run(letter)).toMatchObject({
      status: 'Succeeded',
      outputs: {
        body: 'Dear Ada.',
        metadata: { templateSetId: 'letters', templateId: 'welcome', version: 2, displayName: 'Welcome' },
      },
    });
    expect(await run({ ...letter, version: 1, extras: { end: '!' } })).toMatchObject({
      outputs: { body: 'Hello Ada!' },
    });
  });

  it.each<[JsonObject, string]>([
    [{ templateId: 'nothing' }, 'WFENG004'],
    [{ version: 3 }, 'WFENG004'],
    [{ answers: {} }, 'WFENG005'],
    [{ answers: 'x' }, 'PARAMETERS_INVALID'],
    [{ version: '{{ "one" }}' }, 'PARAMETERS_INVALID'],
    [{ templateSetId: '../x' }, 'PARAMETERS_INVALID'],
  ])('rendering with %j fails for good with %s', async (change, code) => {
    expect(await run({ ...letter, ...change })).toMatchObject({ status: 'Failed', error: { code } });
  });

  it('core.template.render is in the catalog', async () => {
    expect((await server.get('/api/v1/actions/core.template.render')).body).toMatchObject({
      connectorId: 'core',
      category: 'Document',
    });
  });

  it('core.template.render is counted in the metrics', async () => {
    const { body } = await server.get('/metrics');
    expect(String(body)).toMatch(/template_render_duration_seconds_count [1-9]/);
  });
});
