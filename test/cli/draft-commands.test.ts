// Drafts, older versions, tenants, quotas and lists by time, as a person types the commands, against a running server.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { chain, echo } from '../server/api-server.ts';
import { useApi } from '../workflow/api.ts';
import { pawl } from './dev-process.ts';

const api = useApi();
const folder = mkdtempSync(join(tmpdir(), 'pawl-drafts-'));
afterAll(() => rmSync(folder, { recursive: true }));

const there = (...args: string[]) => pawl({ PAWL_URL: api().url }, ...args);

function file(name: string, content: JsonObject): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

async function publish(definition: JsonObject): Promise<void> {
  expect(await there('publish', file('published.json', definition))).toMatchObject({ code: 0 });
}

describe('pawl show and pawl drafts', () => {
  it('pawl drafts saves, publishes and drops a draft, and pawl show prints any version', async () => {
    const flow = (text: string) => chain('drafted', { ...echo('a'), parameters: { text } });
    await publish(flow('one'));
    const saved = await there('drafts', 'save', file('drafted.json', flow('two')));
    expect(saved).toMatchObject({ code: 0, stdout: expect.stringContaining('draft saved') });
    const shown = async (...args: string[]) => {
      const { stdout } = await there('show', 'drafted', ...args);
      return (JSON.parse(stdout) as { nodes: { parameters: object }[] }).nodes[0]!.parameters;
    };
    expect([await shown(), await shown('draft')]).toEqual([{ text: 'one' }, { text: 'two' }]);
    expect(await there('drafts', 'publish', 'drafted')).toMatchObject({
      code: 0,
      stdout: 'drafted: version 2, Active\n',
    });
    expect(await shown()).toEqual({ text: 'two' });
    await publish(JSON.parse((await there('show', 'drafted', '1')).stdout) as JsonObject);
    expect(await shown()).toEqual({ text: 'one' });
    await there('drafts', 'save', file('drafted.json', flow('three')));
    expect(await there('drafts', 'drop', 'drafted')).toMatchObject({ code: 0, stdout: 'drafted: the draft is gone\n' });
    expect(await there('show', 'drafted', 'draft')).toMatchObject({ code: 1 });
    expect(await there('show', 'drafted', 'newest')).toMatchObject({ code: 2 });
  });
});

describe('pawl admin', () => {
  it('pawl admin lists tenants, and shows and changes a quota', async () => {
    await publish(chain('ours', echo('a')));
    expect((await there('admin', 'tenants')).stdout).toMatch(/^default +none +\d+ +\d+$/m);
    const set = await there('admin', 'quota', 'acme', '--preset', 'free', '--limit', 'concurrentRuns=7', 'cron=true');
    expect(set).toMatchObject({ code: 0, stdout: expect.stringContaining('acme: quota free') });
    const { stdout } = await there('admin', 'quota', 'acme', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      preset: 'free',
      limits: { workflows: 3, concurrentRuns: 7, cron: true },
    });
    expect((await there('admin', 'quota', 'acme')).stdout).toMatch(/^concurrentRuns +7 +0$/m);
    expect((await there('admin', 'quota', 'acme', '--preset', 'none')).stdout).toMatch(/^workflows +no limit +0$/m);
    expect(await there('admin', 'quota', 'acme', '--preset', 'golden')).toMatchObject({ code: 2 });
    expect(await there('admin', 'quota', 'acme', '--limit', 'workflows=many')).toMatchObject({ code: 2 });
  });
});

describe('pawl list', () => {
  it('pawl list finds executions by request id and by age', async () => {
    await publish(chain('listed', echo('a')));
    for (const request of ['r1', 'r2']) await there('start', 'listed', '--request-id', request);
    const count = async (...args: string[]) =>
      (JSON.parse((await there('list', '--json', ...args)).stdout) as { data: unknown[] }).data.length;
    expect(await count('--request', 'r1')).toBe(1);
    expect(await count('--since', '2020-01-01T00:00:00Z')).toBe(2);
    expect(await count('--older-than', '1h')).toBe(0);
  });
});
