// The measured lifecycle: a machine that goes back and forth, with one consumer that is not part of the measurement.

import type { Json } from '../src/core/json/json.ts';
import type { Pawl } from '../src/main.ts';
import type { BenchDatabase } from './database.ts';

export const ENV = 'bench';
export const MACHINE = 'parcel';
const CALLERS = 512;
const DEADLOCK = '40P01';
const DEADLOCKS_AT_MOST = 5;

const LIFECYCLE_TABLES = [
  'lifecycle_instances',
  'lifecycle_timeline',
  'lifecycle_reactions',
  'messages',
  'deliveries',
  'notices',
  'outbox_leadership',
];

const definition: Json = {
  env: ENV,
  name: MACHINE,
  initial: 'packed',
  states: { packed: {}, moving: {}, resting: {} },
  events: { go: { code: 1 }, rest: { code: 2 } },
  transitions: [
    { from: 'packed', on: 'go', to: 'moving' },
    { from: 'moving', on: 'rest', to: 'resting' },
    { from: 'resting', on: 'go', to: 'moving' },
  ],
};

export const EVENTS = ['go', 'rest'] as const;
export const STATES = ['packed', 'moving', 'resting', 'moving'] as const;
export const PAYLOAD = { weight: 12, place: 'Brno' };

export async function importMachine(pawl: Pawl): Promise<void> {
  await pawl.lifecycles.import({ definition });
}

/** Deletes the rows that triggers leave, and lets the server finish its writing. */
/**
 * Works also while a Pawl is open. Its monitor reads the same tables in another order, so one of the two is told to try
 * again.
 */
export async function clearLifecycles(database: BenchDatabase): Promise<void> {
  const truncate = () => database.query(`truncate ${LIFECYCLE_TABLES.join(', ')} restart identity`);
  for (let attempt = 1; ; attempt++) {
    try {
      await truncate();
      break;
    } catch (error) {
      if ((error as { code?: string }).code !== DEADLOCK || attempt === DEADLOCKS_AT_MOST) throw error;
    }
  }
  await database.query('checkpoint');
}

/** Sends `turns` triggers to each of the instances, by many callers at once. Every run has instances of its own. */
export async function triggerMany(pawl: Pawl, run: string, instances: number, turns: number): Promise<void> {
  let next = 0;
  const caller = async () => {
    for (let number = next++; number < instances; number = next++) {
      const externalRef = `${run}-${number}`;
      for (let turn = 0; turn < turns; turn++) {
        const event = EVENTS[turn % EVENTS.length]!;
        const requestId = `${externalRef}-${turn}`;
        await pawl.lifecycles.trigger({
          env: ENV,
          definition: MACHINE,
          externalRef,
          event,
          requestId,
          payload: PAYLOAD,
        });
      }
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}
