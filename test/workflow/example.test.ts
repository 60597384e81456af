// The graph workflows of examples/graph through the API. Every example is kept as a draft exactly as written, published if its
// actions exist, and run if its actions need no other system.

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json/json.ts';
import { type Refusal, useApi } from './api.ts';

const api = useApi();

const FOLDER = new URL('../../examples/graph/', import.meta.url);
const read = (file: string) => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as JsonObject & { id: string };
const examples = readdirSync(FOLDER)
  .filter((file) => !file.endsWith('.test.json'))
  .map((file) => ({ file, definition: read(file) }));

function missingActions({ nodes }: JsonObject): string[] {
  const types = (nodes as { actionType?: string }[]).flatMap(({ actionType }) => actionType ?? []);
  return [...new Set(types.filter((type) => !api().pawl.actionTypes.has(type)))].sort();
}

describe.each(examples)('$file', ({ definition }) => {
  it('the example is kept as a draft; publishing succeeds, or names the action that is missing', async () => {
    const { id } = definition;
    // Two of the examples have the same id: the second becomes a new version of the first.
    const version = (await api().post(`/workflows/${id}/draft`)).status === 404 ? 1 : 2;
    expect([200, 201]).toContain((await api().post('/workflows', definition)).status);
    expect((await api().get(`/workflows/${id}?version=draft`)).body.definition).toEqual(definition);
    const missing = missingActions(definition);
    const { status, body } = await api().post<Refusal>(`/workflows/${id}/publish`);
    if (missing.length === 0) {
      // One example starts a workflow that is not among the examples.
      const child = { warnings: [expect.objectContaining({ code: 'SUBWORKFLOW_MISSING' })] };
      const warned = JSON.stringify(definition).includes('"subworkflow"') ? child : {};
      return expect([status, body]).toEqual([200, { workflowId: id, version, status: 'Active', ...warned }]);
    }
    expect(status).toBe(400);
    const named = body.error.details!.filter(({ code }) => code === 'UNKNOWN_ACTION').map(({ message }) => message);
    expect(missing.every((type) => named.some((message) => message.includes(`\`${type}\``)))).toBe(true);
  });
});

async function run(id: string, trigger: Json) {
  const { body } = await api().post<{ executionId: string }>(`/workflows/${id}/execute`, { trigger });
  return api().pawl.result(body.executionId);
}

describe('running the examples', () => {
  it('the fan-out/fan-in example joins the branches that were taken', async () => {
    expect(await run('fanout-fanin', {})).toMatchObject({ status: 'Succeeded', outputs: { msg: 'Join' } });
  });

  it('the retry example gives every attempt the same parameters', async () => {
    const payload = { payload: 'p', timestamp: 't' };
    expect(await run('retry-demo', payload)).toMatchObject({ status: 'Succeeded', outputs: payload });
  });
});
