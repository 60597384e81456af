// A stream of random numbers from a seed. Each part of a simulation draws from a stream of its own, so that removing something
// from one part (a fault, an execution) does not change the others. This makes a case shrinkable.

import { randomSequence } from '../../src/core/retry/random-sequence.testing.ts';

export interface Random {
  /** In [0, 1). */
  next(): number;
  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** A named stream of its own. */
  fork(name: string): Random;
  uuid(): string;
}

export function createRandom(seed: number): Random {
  const bits = randomSequence(seed >>> 0);
  const next = () => bits() / 4294967296;
  const between = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  const hex = () => (Math.floor(next() * 0x100000000) >>> 0).toString(16).padStart(8, '0');
  return {
    next,
    between,
    chance: (probability) => probability > 0 && next() < probability,
    pick: (items) => items[Math.floor(next() * items.length)]!,
    fork: (name) => createRandom(mix(seed, name)),
    uuid() {
      const text = hex() + hex() + hex() + hex();
      return `${text.slice(0, 8)}-${text.slice(8, 12)}-7${text.slice(13, 16)}-8${text.slice(17, 20)}-${text.slice(20)}`;
    },
  };
}

function mix(seed: number, name: string): number {
  let hash = seed ^ 0x9e3779b9;
  for (let index = 0; index < name.length; index++) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
    hash ^= hash >>> 13;
  }
  return hash >>> 0;
}
