// One problem of a definition: where (a JSON pointer), what, and how to fix it. Validation collects all problems. Codes are
// stable: programs match on them, people read the message.

import type { ExpressionProblem } from '../expression/problem.ts';
import { nearMiss } from './near-miss.ts';
import { ProblemList } from './problem-list.ts';

export interface Problem {
  code: string;
  /** JSON pointer (RFC 6901) into the definition; '' is the definition itself. */
  path: string;
  message: string;
  suggestion?: string;
  /** From 1. In the file, where there is one; otherwise in the expression or template that `path` leads to. */
  line?: number;
  column?: number;
  /** Absent: the definition is refused. A warning never stops it. */
  severity?: 'warning';
}

/** Suggestions cost time, so a definition full of wrong names gets them only for the first ones. */
const MAX_NEAR_MISSES = 200;
const MAX_PROBLEMS = 1_000;

/** The problems that a validation has found so far. */
export class Findings {
  readonly #problems = new ProblemList(MAX_PROBLEMS);
  readonly #isStored: boolean;
  #nearMisses = 0;
  #errors = 0;

  /** `isStored`: the definition was accepted before, by this version or an earlier one. */
  constructor({ isStored = false }: { isStored?: boolean | undefined } = {}) {
    this.#isStored = isStored;
  }

  /** Adds an error, unless there are already enough of them. */
  add(make: () => Problem): void {
    this.#errors++;
    this.#problems.add(make);
  }

  error(code: string, path: string, message: string, suggestion?: string): void {
    this.add(() => (suggestion === undefined ? { code, path, message } : { code, path, message, suggestion }));
  }

  warning(code: string, path: string, message: string, suggestion: string): void {
    this.#problems.add(() => ({ code, path, message, suggestion, severity: 'warning' }));
  }

  /** An error that earlier versions did not report. Definitions that they accepted still run. */
  newError(code: string, path: string, message: string, suggestion?: string): void {
    if (!this.#isStored) this.error(code, path, message, suggestion);
  }

  /** An expression or template that does not parse. */
  syntaxError(
    code: string,
    path: string,
    { message, hint, line, column }: ExpressionProblem,
    isOneLine: boolean,
  ): void {
    const place = isOneLine ? `column ${column}` : `line ${line}, column ${column}`;
    const suggestion = hint === undefined ? {} : { suggestion: hint };
    this.add(() => ({ code, path, message: `${message} (${place})`, ...suggestion, line, column }));
  }

  nearMiss(name: string, known: Iterable<string>): string | undefined {
    return this.#nearMisses++ < MAX_NEAR_MISSES ? nearMiss(name, known) : undefined;
  }

  get hasErrors(): boolean {
    return this.#errors > 0;
  }

  problems(): Problem[] {
    return this.#problems.all();
  }
}
