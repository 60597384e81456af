// One evaluation: its scope, and how much of its limits is used. Every function asks here *before* it works or builds, so an
// evaluation is bounded in time and memory (S4). The language has no loops or recursion, so steps grow only through array
// methods: an expression is charged once by its size, a callback on each call.

export interface Limits {
  readonly maxSteps: number;
  readonly maxDepth: number;
  readonly maxBytes: number;
  /** For the parameters of all nodes of one execution together, as they are recorded. */
  readonly maxRenderedBytes?: number;
}

const MIB = 1024 * 1024;
export const DEFAULT_LIMITS: Required<Limits> = {
  maxSteps: 100_000,
  maxDepth: 100,
  maxBytes: 4 * MIB,
  maxRenderedBytes: 64 * MIB,
};

/** How deep *data* may nest. Data comes from outside; this is deeper than any real document and far from the end of the stack. */
const MAX_DATA_DEPTH = 500;

/** Native work on text and lists is much faster than our own steps. */
const UNITS_PER_STEP = 64;

const BYTES_PER_SLOT = 16;
const BYTES_PER_CONTAINER = 48;
/** An object needs more for each key than an array for each element. */
export const BYTES_PER_PROPERTY = 48;
/** Listing or writing a property is not a native loop over memory: it looks up or hashes a name. */
export const STEPS_PER_PROPERTY = 2;

export class EvaluationError extends Error {
  readonly code: 'EVALUATION_ERROR' | 'BUDGET_EXCEEDED';

  constructor(message: string, code: 'EVALUATION_ERROR' | 'BUDGET_EXCEEDED' = 'EVALUATION_ERROR') {
    super(message);
    this.name = 'EvaluationError';
    this.code = code;
  }
}

/** A value that the expression needs is missing. The caller can name it. */
export class MissingValueError extends EvaluationError {}

export type Scope = Readonly<Record<string, unknown>>;

/** Called with the effort of an evaluation, also of a failed one: see `Evaluation.effort`. */
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

  /** The share of the step or memory limit that is used; 1 is all of it. */
  get effort(): number {
    return this.steps / this.limits.maxSteps + this.bytes / this.limits.maxBytes;
  }

  step(count: number): void {
    // A refused step is not taken, so it is not counted.
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
   * The size of a value if it were written out. A small graph of shared parts can be an astronomically large document
   * (`[x].map(a => [a, a]).map(b => [b, b])…`), so every walk over a whole value weighs it first.
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
