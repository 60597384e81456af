// The plain Temporal workflow that ours is compared with: activities in a row, each with the result of the one before it.
// Temporal runs this file in its sandbox.

import { proxyActivities } from '@temporalio/workflow';

const { echo } = proxyActivities<{ echo(x: number): Promise<number> }>({ startToCloseTimeout: '1m' });

export async function bare(steps: number): Promise<number> {
  let x = 1;
  for (let step = 0; step < steps; step++) x = await echo(x);
  return x;
}
