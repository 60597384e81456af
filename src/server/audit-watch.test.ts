import { expect, it } from 'vitest';
import type { Deed } from '../store/audit-port.ts';
import { AuditWatch } from './audit-watch.ts';

function watching() {
  const deeds: Deed[] = [];
  let now = 0;
  const store = {
    audited: async ({ deed }: { deed: (result: never) => Deed | null }) => void deeds.push(deed(undefined as never)!),
  } as unknown as ConstructorParameters<typeof AuditWatch>[0]['store'];
  const watch = new AuditWatch({ store, now: () => now, warn: () => {} });
  const deny = (route: string, name = 'eve') =>
    watch.witness({ tenantId: 'acme', by: { name }, action: 'access.denied', route });
  return {
    deeds,
    deny,
    later: (ms: number) => {
      now += ms;
    },
  };
}

it('a refusal is recorded at once, and its repeats are counted in the next record after a minute', async () => {
  const { deeds, deny, later } = watching();
  for (let count = 0; count < 5; count++) await deny('GET /a');
  await deny('GET /b');
  expect(deeds.map(({ target, details }) => [target, details])).toEqual([
    ['GET /a', undefined],
    ['GET /b', undefined],
  ]);
  later(60_000);
  await deny('GET /a');
  expect(deeds.at(-1)).toMatchObject({ target: 'GET /a', details: { repeatedBefore: 4 } });
});

it('I21: a flood of refusals of every kind leaves a hundred records a minute', async () => {
  const { deeds, deny } = watching();
  for (let count = 0; count < 1_000; count++) await deny(`GET /${count}`);
  expect(deeds).toHaveLength(100);
});
