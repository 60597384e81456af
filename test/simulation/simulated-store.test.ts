// The simulated store must pass the same contract as PostgreSQL, because everything the simulation proves, it proves on this
// store.

import { storeContract } from '../../src/store/contract.testing.ts';
import { createTables } from './database/tables.ts';
import { createSimulatedStore } from './simulated-store.ts';

storeContract('simulated', async () => {
  // A real clock that never gives the same time twice, just as PostgreSQL's microseconds never repeat.
  let last = 0;
  const clock = () => {
    last = Math.max(last + 0.001, Date.now());
    return last;
  };
  return createSimulatedStore(createTables(clock));
});
