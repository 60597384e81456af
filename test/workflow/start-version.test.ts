// A start takes the version that is current at that moment, even where an earlier version is cached.

import { describe, expect, it } from 'vitest';
import { type Refusal, useApi } from './api.ts';
import { echo } from './definition.ts';

const api = useApi();

const publish = async (id: string, message: string, extra = {}) => {
  await api().post(`/workflows/${id}/draft`);
  await api().post('/workflows', echo(id, message, extra));
  expect((await api().post(`/workflows/${id}/publish`)).status).toBe(200);
};
const execute = (id: string, body = {}) =>
  api().post<{ executionId: string } & Refusal>(`/workflows/${id}/execute`, body);
const versionOf = async (executionId: string) => (await api().pawl.executions.get('default', executionId)).version;

describe('the start of an execution', () => {
  it('a start takes the newest published version', async () => {
    await publish('moving', 'one');
    const first = await execute('moving');
    await publish('moving', 'two');
    const second = await execute('moving');
    expect([await versionOf(first.body.executionId), await versionOf(second.body.executionId)]).toEqual([1, 2]);
  });

  it('a start is checked against the triggerSchema of the version that it takes', async () => {
    const needs = (field: string) => ({ triggerSchema: { type: 'object', required: [field] } });
    await publish('choosy', 'x', needs('a'));
    expect((await execute('choosy', { trigger: { a: 1 } })).status).toBe(202);
    await publish('choosy', 'x', needs('b'));
    expect((await execute('choosy', { trigger: { b: 1 } })).status).toBe(202);
    expect((await execute('choosy', { trigger: { a: 1 } })).body.error.code).toBe('TRIGGER_INVALID');
  });

  it('a start is refused as soon as the workflow is disabled, archived or deleted', async () => {
    await publish('going', 'x');
    expect((await execute('going')).status).toBe(202);
    await api().send('PATCH', '/workflows/going', { isEnabled: false });
    expect((await execute('going')).body.error.code).toBe('WORKFLOW_DISABLED');
    await api().send('PATCH', '/workflows/going', { isEnabled: true });
    expect((await execute('going')).status).toBe(202);
    await api().post('/workflows/going/archive');
    expect((await execute('going')).body.error.code).toBe('WORKFLOW_NOT_ACTIVE');
    const pipeline = { name: 'passing', tasks: { a: { sleep: '1s' } } };
    await api().post('/workflows', pipeline);
    expect((await execute('passing')).status).toBe(202);
    await api().send('DELETE', '/workflows/passing');
    expect((await execute('passing')).body.error.code).toBe('WORKFLOW_NOT_FOUND');
  });

  it('a start with a known requestId returns its execution, even after the workflow is archived', async () => {
    await publish('asked', 'x');
    await execute('asked');
    const first = await execute('asked', { requestId: 'same' });
    expect((await execute('asked', { requestId: 'same' })).body.executionId).toBe(first.body.executionId);
    await api().post('/workflows/asked/archive');
    expect(await execute('asked', { requestId: 'same' })).toMatchObject({
      status: 200,
      body: { executionId: first.body.executionId },
    });
    expect((await execute('asked', { requestId: 'other' })).status).toBe(409);
  });
});
