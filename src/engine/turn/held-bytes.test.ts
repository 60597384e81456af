import { expect, it } from 'vitest';
import { HeldBytes } from './held-bytes.ts';

it('waiting executions of a tenant with room continue, oldest first and once each', () => {
  const bytes = new HeldBytes<string>((ofTenant, ofAll) => ofTenant < 10 && ofAll < 20);
  bytes.add('a', 10);
  bytes.wait('a', 'first');
  bytes.wait('b', 'other');
  bytes.wait('a', 'second');
  expect([bytes.hasRoom('a'), bytes.hasRoom('b')]).toEqual([false, true]);
  expect(bytes.ready()).toEqual(['other']);
  bytes.add('a', -1);
  expect([bytes.ready(), bytes.ready()]).toEqual([['first', 'second'], []]);
});

it('the bytes of all tenants count as well, and released bytes no longer count', () => {
  const bytes = new HeldBytes<string>((ofTenant, ofAll) => ofTenant < 10 && ofAll < 20);
  for (const tenant of ['a', 'b', 'c']) bytes.add(tenant, 7);
  expect(bytes.hasRoom('d')).toBe(false);
  bytes.add('b', -7);
  expect([bytes.hasRoom('d'), bytes.hasRoom('d', 10)]).toEqual([true, false]);
});
