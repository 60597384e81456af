// Work that may take long, as a generator that stops after every small piece of it. Whoever has an event loop to keep free lets
// it turn in between (engine/in-turns.ts); whoever has not takes all steps at once, and gets the same result (S4).

export type Steps<Result> = Generator<void, Result, void>;

export function allAtOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
