// Native and Temporal agree (I25): named cases, random definitions of all formats, and the named cases again with histories that are
// continued in new runs all the time.

import { describe } from 'vitest';
import { temporalMissing } from '../driver/temporal-server.ts';
import { agreeOnNamedCases, agreeOnRandomDefinitions } from './agreement.ts';
import { driverPair } from './driver-pair.ts';

describe.skipIf(temporalMissing !== null)('native and Temporal', () => {
  const pair = driverPair();
  agreeOnNamedCases(pair, 'temporal');
  agreeOnRandomDefinitions(pair, 'temporal', { count: 200, atOnce: 20 });
});

describe.skipIf(temporalMissing !== null)('native and Temporal with histories of a few events', () => {
  agreeOnNamedCases(driverPair({ maxEvents: 20 }), 'temporal');
});
