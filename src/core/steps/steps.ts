// Long work as a generator that pauses after every small piece. A caller with an event loop lets the loop turn in between
// (clock/in-turns.ts); any other caller takes all steps at once and gets the same result (S4).

export type Steps<Result> = Generator<void, Result, void>;

export function allAtOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
