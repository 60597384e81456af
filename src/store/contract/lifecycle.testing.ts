// Imported machines: versions, and the generation that announces a change.

import { expect, it } from 'vitest';
import type { Store } from '../port.ts';
import { AWKWARD_JSON, newId, TENANT } from './builder.testing.ts';
import { loanMachine, newConsumer } from './messaging.testing.ts';

export function describeLifecycle(store: () => Store): void {
  const get = (version: number | null = null, tenantId = TENANT) =>
    store().lifecycleGet({ tenantId, env: 'prod', name: 'loan', version });

  it('makes a version of an import, and none of the same again', async () => {
    expect(await store().lifecycleImport(loanMachine({ definition: AWKWARD_JSON }))).toEqual({
      version: 1,
      changed: true,
    });
    expect(await store().lifecycleImport(loanMachine())).toEqual({ version: 1, changed: false });
    expect(await store().lifecycleImport(loanMachine({ checksum: 'c2', policies: '[]' }))).toEqual({
      version: 2,
      changed: true,
    });
    expect(await get()).toMatchObject({ version: 2, newestVersion: 2, checksum: 'c2', policies: '[]' });
    expect(await get(1)).toMatchObject({ version: 1, newestVersion: 2, definition: AWKWARD_JSON, policies: null });
  });

  it('makes a version of what was the newest but one', async () => {
    await store().lifecycleImport(loanMachine());
    await store().lifecycleImport(loanMachine({ checksum: 'c2' }));
    expect(await store().lifecycleImport(loanMachine())).toEqual({ version: 3, changed: true });
  });

  it('knows neither what there is not nor what is another tenant’s', async () => {
    await store().lifecycleImport(loanMachine());
    expect(await get(2)).toBeNull();
    expect(await get(null, 'other')).toBeNull();
    expect(await store().lifecycleGet({ tenantId: TENANT, env: 'test', name: 'loan', version: null })).toBeNull();
    expect(await store().lifecycleList({ tenantId: 'other', after: null, limit: 10 })).toEqual([]);
  });

  it('lists the newest of each in the order of their names, by pages', async () => {
    for (const [env, name] of [
      ['prod', 'b'],
      ['dev', 'z'],
      ['prod', 'a'],
    ] as const) {
      await store().lifecycleImport(loanMachine({ env, name }));
    }
    await store().lifecycleImport(loanMachine({ name: 'a', checksum: 'c2' }));
    const page = await store().lifecycleList({ tenantId: TENANT, after: null, limit: 2 });
    expect(page.map(({ env, name, version }) => [env, name, version])).toEqual([
      ['dev', 'z', 1],
      ['prod', 'a', 2],
    ]);
    const rest = await store().lifecycleList({ tenantId: TENANT, after: { env: 'prod', name: 'a' }, limit: 2 });
    expect(rest.map(({ name }) => name)).toEqual(['b']);
  });

  it('gives the same import at the same time one version', async () => {
    const results = await Promise.all(Array.from({ length: 8 }, () => store().lifecycleImport(loanMachine())));
    expect(results.map(({ version }) => version)).toEqual(Array(8).fill(1));
    expect(results.filter(({ changed }) => changed)).toHaveLength(1);
  });

  it('gives different imports at the same time different versions', async () => {
    const checksums = Array.from({ length: 6 }, () => newId());
    const results = await Promise.all(checksums.map((checksum) => store().lifecycleImport(loanMachine({ checksum }))));
    expect(results.map(({ version }) => version).sort()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('raises the generation with every change, and with nothing else', async () => {
    const seen = [await store().lifecycleGeneration()];
    const changes: (() => Promise<unknown>)[] = [
      () => store().lifecycleImport(loanMachine()),
      () => newConsumer(store(), 'kyc'),
      () => newConsumer(store(), 'kyc', { isPaused: true }),
      () => store().consumerRemove({ tenantId: TENANT, code: 'kyc' }),
    ];
    for (const change of changes) {
      await change();
      seen.push(await store().lifecycleGeneration());
    }
    expect(new Set(seen).size).toBe(changes.length + 1);
    await store().lifecycleImport(loanMachine());
    await store().consumerRemove({ tenantId: TENANT, code: 'kyc' });
    expect(await store().lifecycleGeneration()).toBe(seen.at(-1));
  });
}
