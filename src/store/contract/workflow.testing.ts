// Workflows: immutable versions, one of them current.

import { expect, it } from 'vitest';
import type { Store } from '../port.ts';
import { AWKWARD_JSON, TENANT } from './builder.testing.ts';

export function describeWorkflow(store: () => Store): void {
  const publish = (checksum: string, overrides: { tenantId?: string; definition?: string; format?: string } = {}) =>
    store().workflowPublish({
      tenantId: TENANT,
      workflowId: 'onboard',
      displayName: `Onboard ${checksum}`,
      description: null,
      format: 'graph',
      definition: '{}',
      checksum,
      ...overrides,
    });

  it('publishes version after version and keeps each as it was given', async () => {
    expect(await publish('one', { definition: AWKWARD_JSON })).toEqual({ version: 1, created: true });
    expect(await publish('two')).toEqual({ version: 2, created: true });
    expect(await store().workflowGet({ tenantId: TENANT, workflowId: 'onboard' })).toEqual({
      workflowId: 'onboard',
      displayName: 'Onboard two',
      format: 'graph',
      status: 'Active',
      isEnabled: true,
      currentVersion: 2,
    });
    expect(await store().definitionGet({ tenantId: TENANT, workflowId: 'onboard', version: 1 })).toEqual({
      format: 'graph',
      definition: AWKWARD_JSON,
      checksum: 'one',
      status: 'Active',
    });
  });

  it('tells what children would run, to all who ask at once', async () => {
    await publish('one');
    await publish('two', { format: 'pipeline' });
    await publish('one', { tenantId: 'other' });
    const ask = (tenantId: string, workflowId: string, version: number | null) =>
      store().childTarget({ tenantId, workflowId, version });
    const active = { status: 'Active', isEnabled: true };
    expect(
      await Promise.all([
        ask(TENANT, 'onboard', null),
        ask(TENANT, 'onboard', 1),
        ask(TENANT, 'onboard', 7),
        ask(TENANT, 'nothing', null),
        ask('other', 'onboard', null),
      ]),
    ).toEqual([
      { ...active, version: 2, format: 'pipeline' },
      { ...active, version: 1, format: 'graph' },
      { ...active, version: 7, format: null },
      null,
      { ...active, version: 1, format: 'graph' },
    ]);
    const archived = (tenantId: string, workflowId: string) => store().workflowArchived({ tenantId, workflowId });
    expect(await Promise.all([archived(TENANT, 'onboard'), archived('third', 'onboard')])).toEqual([false, null]);
  });

  it('makes no new version of a definition it has', async () => {
    await publish('one');
    expect(await publish('one')).toEqual({ version: 1, created: false });
    await publish('two');
    expect(await publish('one')).toEqual({ version: 1, created: false });
    expect(await store().workflowGet({ tenantId: TENANT, workflowId: 'onboard' })).toMatchObject({ currentVersion: 1 });
    expect(await publish('three')).toEqual({ version: 3, created: true });
  });

  it('keeps tenants apart', async () => {
    await publish('one');
    await publish('two');
    expect(await publish('one', { tenantId: 'other' })).toEqual({ version: 1, created: true });
    expect(await store().workflowGet({ tenantId: 'third', workflowId: 'onboard' })).toBeNull();
    expect(await store().definitionGet({ tenantId: 'other', workflowId: 'onboard', version: 2 })).toBeNull();
  });

  it('numbers versions without gaps when many publish at once', async () => {
    const results = await Promise.all(Array.from({ length: 10 }, (_, i) => publish(`sum-${i % 5}`)));
    const created = results.filter((result) => result.created).map(({ version }) => version);
    expect(created.sort()).toEqual([1, 2, 3, 4, 5]);
  });

  it('refuses a format that does not exist', async () => {
    const workflow = {
      tenantId: TENANT,
      workflowId: 'w',
      displayName: 'W',
      description: null,
      definition: '{}',
      checksum: 'c',
    };
    await expect(store().workflowPublish({ ...workflow, format: 'riddle' })).rejects.toMatchObject({ failure: 'data' });
    expect(await store().workflowGet({ tenantId: TENANT, workflowId: 'w' })).toBeNull();
  });
}
