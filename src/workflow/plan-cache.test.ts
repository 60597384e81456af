import { describe, expect, it } from 'vitest';
import { handTimers } from '../clock/hand-timers.testing.ts';
import type { DefinitionRow, WorkflowStore } from '../store/port.ts';
import { PlanCache } from './plan-cache.ts';

const key = { tenantId: 't', workflowId: 'w', version: 1 };
const definition = JSON.stringify({
  id: 'w',
  displayName: 'W',
  startNode: 'a',
  nodes: [{ id: 'a', actionType: 'core.echo' }],
});

function setup(rows: Record<string, DefinitionRow | undefined>) {
  const timers = handTimers();
  const asked: string[] = [];
  const store: Pick<WorkflowStore, 'definitionGet' | 'workflowArchived'> = {
    workflowArchived: async ({ tenantId, workflowId }) => {
      asked.push(`${tenantId}/${workflowId}`);
      const row = rows[`${tenantId}/${workflowId}/1`];
      return row === undefined ? null : row.status === 'Archived';
    },
    definitionGet: async ({ tenantId, workflowId, version }) => {
      const name = `${tenantId}/${workflowId}/${version}`;
      asked.push(name);
      return rows[name] ?? null;
    },
  };
  return { timers, asked, plans: new PlanCache(store as WorkflowStore, timers) };
}

const row = (rest: Partial<DefinitionRow> = {}): DefinitionRow => ({
  format: 'graph',
  definition,
  checksum: 'c',
  status: 'Active',
  ...rest,
});

describe('a cached plan', () => {
  it('a plan is compiled once, and only the archived status is read again', async () => {
    const rows = { 't/w/1': row() };
    const { plans, asked, timers } = setup(rows);
    const first = await plans.plan(key);
    expect(first).toMatchObject({ plan: { id: 'w' }, isArchived: false });
    expect(await plans.plan(key)).toBe(first);
    expect(asked).toHaveLength(1);

    rows['t/w/1'] = row({ status: 'Archived', definition: 'no longer read' });
    timers.advance(1_000);
    const later = await plans.plan(key);
    expect(later).toMatchObject({ isArchived: true });
    expect((later as { plan: unknown }).plan).toBe((first as { plan: unknown }).plan);
  });

  it('a plan is read once for all callers who wait for it', async () => {
    const { plans, asked, timers } = setup({ 't/w/1': row() });
    await Promise.all(Array.from({ length: 400 }, () => plans.plan(key)));
    timers.advance(1_000);
    await Promise.all(Array.from({ length: 400 }, () => plans.plan(key)));
    expect(asked).toHaveLength(2);
  });

  it('a plan belongs to one tenant and one version', async () => {
    const { plans } = setup({ 't/w/1': row(), 'other/w/1': undefined });
    expect(await plans.plan(key)).not.toBeNull();
    expect(await plans.plan({ ...key, tenantId: 'other' })).toBeNull();
    expect(await plans.plan({ ...key, version: 2 })).toBeNull();
  });

  it('a plan that cannot be compiled gives the reason, and nothing is thrown', async () => {
    const { plans } = setup({ 't/w/1': row({ definition: '{"nodes":7}' }) });
    expect(await plans.plan(key)).toEqual({ problem: expect.stringContaining('the stored definition is not valid') });
  });

  it('a plan that does not exist is read again', async () => {
    const rows: Record<string, DefinitionRow | undefined> = {};
    const { plans } = setup(rows);
    expect(await plans.plan(key)).toBeNull();
    rows['t/w/1'] = row();
    expect(await plans.plan(key)).not.toBeNull();
  });

  it('thousands of small plans are all kept', async () => {
    const rows = Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`t/w/${n}`, row()]));
    const { plans, asked } = setup(rows);
    for (let version = 0; version < 3_000; version++) await plans.plan({ ...key, version });
    asked.length = 0;
    for (let version = 0; version < 3_000; version++) await plans.plan({ ...key, version });
    expect(asked).toEqual([]);
  });

  it('the least recently used plan makes room when large plans fill the memory', async () => {
    const large = row({ definition: `${definition}${' '.repeat(1_000_000)}` });
    const rows = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`t/w/${n}`, large]));
    const { plans, asked, timers } = setup(rows);
    for (let version = 0; version < 20; version++) await plans.plan({ ...key, version });
    asked.length = 0;
    timers.advance(100);
    await plans.plan({ ...key, version: 19 });
    expect(asked).toEqual([]);
    await plans.plan({ ...key, version: 0 });
    expect(asked).toEqual(['t/w/0']);
  });
});
