// A lost database comes back from its base backup and its WAL, to a point in time; and a standby takes over.

import { expect, it } from 'vitest';
import { restoreDrill } from '../../scripts/restore-drill.ts';

it('a restore keeps acknowledged data, continues live executions and sends the same events again', async () => {
  expect(await restoreDrill()).toEqual({
    kept: [10, 10],
    later: 0,
    asleep: 'Succeeded',
    replayed: [10, 10],
    violations: 0,
    standby: { kept: 3, runs: 'Succeeded' },
  });
}, 120_000);
