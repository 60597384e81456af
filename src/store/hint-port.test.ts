import { expect, it } from 'vitest';
import { hintedLanes } from './hint-port.ts';

it('executions of one lane are sent as one hint with their number', () => {
  const acme = { tenantId: 'acme', priority: 5 };
  expect(hintedLanes([acme, { tenantId: 'acme', priority: 9 }, acme])).toEqual([
    { ...acme, count: 2 },
    { tenantId: 'acme', priority: 9, count: 1 },
  ]);
});
