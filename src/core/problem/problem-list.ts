// Keeps the first problems and counts the rest, so that nothing is left out silently and a list that nobody would read costs
// neither time nor room (S4).

import type { Problem } from './problem.ts';

export class ProblemList {
  readonly #max: number;
  readonly #first: Problem[] = [];
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Made only if there is room for it: suggestions cost time. */
  add(make: () => Problem): void {
    if (this.#count++ < this.#max) this.#first.push(make());
  }

  get count(): number {
    return this.#count;
  }

  all(): Problem[] {
    const left = this.#count - this.#first.length;
    if (left === 0) return this.#first;
    const message = `and ${left} more ${left === 1 ? 'problem' : 'problems'}`;
    return [...this.#first, { code: 'MORE_PROBLEMS', path: '', message }];
  }
}
