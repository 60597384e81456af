// One evaluation: what it may see, and what it has used of its limits. Every function that works or builds asks here
// *before* it does, so one evaluation is bounded in time and memory (S4). Without loops or recursion in the language, steps
// grow only through array methods: a whole expression is charged by its size once, and a callback on each call.

export interface Limits {
  readonly maxSteps: number;
  readonly maxDepth: number;
  readonly maxBytes: number;
  /** Parameters of all nodes of one execution together, as they are written down. */
  readonly maxRenderedBytes?: number;
}

const MIB = 1024 * 1024;
export const DEFAULT_LIMITS: Required<Limits> = {
  maxSteps: 100_000,
  maxDepth: 100,
  maxBytes: 4 * MIB,
  maxRenderedBytes: 64 * MIB,
};

/** Nesting of *data*, which comes from outside: deeper than any real document, far from the end of the stack. */
const MAX_DATA_DEPTH = 500;

/** Native work on text and lists is much faster than our own steps. */
const UNITS_PER_STEP = 64;

const BYTES_PER_SLOT = 16;
const BYTES_PER_CONTAINER = 48;
/** An object needs more for each key than an array for each element. */
export const BYTES_PER_PROPERTY = 48;
/** Listing or writing one is no native loop over memory: it looks up or hashes a name. */
export const STEPS_PER_PROPERTY = 2;

export class EvaluationError extends Error {
  readonly code: 'EVALUATION_ERROR' | 'BUDGET_EXCEEDED';

  constructor(message: string, code: 'EVALUATION_ERROR' | 'BUDGET_EXCEEDED' = 'EVALUATION_ERROR') {
    super(message);
    this.name = 'EvaluationError';
    this.code = code;
  }
}

/** A value that the expression needs is missing; the caller can name it. */
export class MissingValueError extends EvaluationError {}

export type Scope = Readonly<Record<string, unknown>>;

/** Told what an evaluation took, also of one that failed: see `Evaluation.effort`. */
export type Spend = (effort: number) => void;

/** `condition`: in the pipeline dialect a missing path is null. `template`: `undefined` may not slip into a text. */
export type Purpose = 'value' | 'condition' | 'template';

export class Evaluation {
  readonly scope: Scope;
  readonly limits: Limits;
  readonly purpose: Purpose;
  /** The parameters of the arrow functions being called, by slot. */
  readonly locals: unknown[] = [];
  steps = 0;
  bytes = 0;

  constructor(scope: Scope, limits: Limits, purpose: Purpose) {
    this.scope = scope;
    this.limits = limits;
    this.purpose = purpose;
  }

  /** The used share of the limits of steps or memory; 1 is everything. */
  get effort(): number {
    return this.steps / this.limits.maxSteps + this.bytes / this.limits.maxBytes;
  }

  step(count: number): void {
    // What is refused is not done, and was not used.
    if (this.steps + count > this.limits.maxSteps) throw exceeded(`${this.limits.maxSteps} steps`, 'maxSteps');
    this.steps += count;
  }

  /** For native loops over characters or elements. */
  work(units: number): void {
    this.step(units / UNITS_PER_STEP);
  }

  build(bytes: number): void {
    if (this.bytes + bytes > this.limits.maxBytes) throw exceeded(`${this.limits.maxBytes} bytes built`, 'maxBytes');
    this.bytes += bytes;
  }

  buildList(length: number): void {
    this.build(BYTES_PER_CONTAINER + length * BYTES_PER_SLOT);
  }

  nest(height: number): void {
    if (height > this.limits.maxDepth) throw exceeded(`a depth of ${this.limits.maxDepth}`, 'maxDepth');
  }

  enterData(depth: number): void {
    if (depth > MAX_DATA_DEPTH) throw exceeded(`a depth of ${MAX_DATA_DEPTH} in the data`, 'maxDepth');
  }

  /**
   * What a value would take if it were written out. A small graph of shared parts can be an astronomically large document
   * (`[x].map(a => [a, a]).map(b => [b, b])…`), so every walk over a whole value asks first.
   */
  weigh(value: unknown, depth = 0): void {
    this.build(typeof value === 'string' ? value.length : BYTES_PER_SLOT);
    if (typeof value !== 'object' || value === null) return;
    this.enterData(depth);
    this.build(BYTES_PER_CONTAINER);
    if (Array.isArray(value)) {
      for (const item of value) this.weigh(item, depth + 1);
      return;
    }
    for (const [key, item] of Object.entries(value)) {
      this.build(key.length);
      this.weigh(item, depth + 1);
    }
  }
}

function exceeded(what: string, limit: keyof Limits): EvaluationError {
  return new EvaluationError(`The expression needs more than ${what} (${limit})`, 'BUDGET_EXCEEDED');
}
