// Drivers agree (I25): the same definition ends in the same state, with the same attempts and the same facts, on the native engine and on
// another one.

import { expect, test } from 'vitest';
import type { OutsideDriver } from '../../src/store/external-port.ts';
import { createRandom } from '../chaos/random.ts';
import { type DriverPair, runOn } from './driver-pair.ts';
import { NAMED_CASES } from './named-case.ts';
import { RANDOM_CHILD, randomDefinition } from './random-definition.ts';

export function agreeOnNamedCases(pair: DriverPair, driver: OutsideDriver): void {
  for (const { name, definition, also = [], trigger, during } of NAMED_CASES) {
    test.concurrent(`agree: ${name}`, { timeout: 120_000 }, async () => {
      for (const other of also) await pair.pawl.publish(other);
      const native = await runOn(pair, 'native', definition, { trigger, during });
      const outside = await runOn(pair, driver, definition, { trigger, during });
      expect(outside).toEqual(native);
    });
  }
}

export function agreeOnRandomDefinitions(
  pair: DriverPair,
  driver: OutsideDriver,
  { count: usual, atOnce }: { count: number; atOnce: number },
): void {
  const count = Number(process.env.CONFORMANCE_COUNT ?? usual);
  test(`agree on ${count} random definitions of all formats`, { timeout: 900_000 }, async () => {
    const seed = process.env.CONFORMANCE_SEED ?? String(Date.now());
    await pair.pawl.publish(RANDOM_CHILD);
    let next = 0;
    const one = async (index: number) => {
      const definition = randomDefinition(createRandom(`${seed}/${index}`), `${seed}-${index}`);
      await pair.pawl.publish(definition);
      const [native, outside] = await Promise.all([runOn(pair, 'native', definition), runOn(pair, driver, definition)]);
      expect(outside, `seed ${seed}, number ${index}: ${JSON.stringify(definition)}`).toEqual(native);
    };
    const worker = async () => {
      while (next < count) await one(next++);
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
  });
}
