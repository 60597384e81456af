// Native and Conductor agree (I25): the suite of the Temporal driver, unchanged, on a real Conductor server.

import { describe } from 'vitest';
import { conductorMissing } from '../driver/conductor-server.ts';
import { agreeOnNamedCases, agreeOnRandomDefinitions } from './agreement.ts';
import { driverPair } from './driver-pair.ts';

describe.skipIf(conductorMissing !== null)('native and Conductor', () => {
  const pair = driverPair({ driver: 'conductor' });
  agreeOnNamedCases(pair, 'conductor');
  agreeOnRandomDefinitions(pair, 'conductor', { count: 15, atOnce: 15 });
});
