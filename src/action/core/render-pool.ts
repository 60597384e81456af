// The document renderer: a few warm processes, and a queue in which tenants take turns. The first document starts the first
// process; a stopped process is replaced by the next.

import { PawlError } from '../../core/error/pawl-error.ts';
import type { Problem } from '../../core/problem/problem.ts';
import type { DocumentRenderer, Turn } from '../document-renderer.ts';
import { FairQueue } from './fair-queue.ts';
import type { ProcessOptions, RenderJob, RenderOutcome } from './render-job.ts';
import { RenderProcess } from './render-process.ts';

export interface RenderPoolOptions extends ProcessOptions {
  readonly processes: number;
  /** The maximum number of waiting jobs; more are refused (I21). */
  readonly maxWaiting?: number;
  /** For metrics: how long a document took, its wait not counted. */
  readonly rendered?: (durationMs: number) => void;
}

interface Waiting {
  readonly job: RenderJob;
  readonly settle: (outcome: RenderOutcome) => void;
  readonly give: (error: Error) => void;
}

const MAX_WAITING = 1_000;

export function createRenderPool(options: RenderPoolOptions): DocumentRenderer {
  const pool = new RenderPool(options);
  const checked = async (job: RenderJob, turn: Turn): Promise<Problem[]> => {
    const outcome = await pool.run(job, turn);
    if (outcome.kind === 'checked') return outcome.problems;
    throw refused(outcome);
  };
  return {
    async render({ body, answersSchema, answers, extras }, turn) {
      const outcome = await pool.run(
        {
          kind: 'render',
          body,
          answersSchema: answersSchema === null ? null : JSON.stringify(answersSchema),
          answers: JSON.stringify(answers),
          extras: JSON.stringify(extras),
        },
        turn,
      );
      if (outcome.kind === 'rendered') return outcome.body;
      throw refused(outcome);
    },
    checkBody: (body, turn) => checked({ kind: 'checkBody', body }, turn),
    checkSchema: (schema, turn) => checked({ kind: 'checkSchema', schema: JSON.stringify(schema) }, turn),
    checkValue: (schema, value, turn) =>
      checked({ kind: 'checkValue', schema: JSON.stringify(schema), value: JSON.stringify(value) }, turn),
    close: () => pool.close(),
  };
}

/** The message gives the first problem and its place; the details give all. */
function refused(outcome: RenderOutcome): Error {
  if (outcome.kind !== 'refused') return new Error(`a rendering process answered with ${outcome.kind}`);
  const { code, message, problems } = outcome;
  if (code === 'INTERNAL_ERROR') return new Error(message);
  const [first, ...more] = problems ?? [];
  if (first === undefined) return new PawlError(code, message);
  const place = first.line === undefined ? first.path : `line ${first.line}, column ${first.column}`;
  const others = more.length === 0 ? '' : `, and ${more.length} more`;
  return new PawlError(code, `${message}: ${first.message}${place === '' ? '' : ` (${place})`}${others}`, problems);
}

class RenderPool {
  private readonly options: RenderPoolOptions;
  private readonly queue = new FairQueue<Waiting>();
  private readonly idle: RenderProcess[] = [];
  private readonly busy = new Set<RenderProcess>();
  private closed = false;

  constructor(options: RenderPoolOptions) {
    this.options = options;
  }

  run(job: RenderJob, { tenantId, signal }: Turn): Promise<RenderOutcome> {
    if (this.closed) return Promise.reject(new PawlError('UNAVAILABLE', 'documents are no longer rendered here'));
    if (this.queue.size >= (this.options.maxWaiting ?? MAX_WAITING)) {
      return Promise.reject(new PawlError('UNAVAILABLE', 'too many documents are waiting; try again'));
    }
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<RenderOutcome>();
    const waiting: Waiting = { job, settle: resolve, give: reject };
    const stopWaiting = (): void => {
      this.queue.remove(tenantId, waiting);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', stopWaiting);
    this.queue.push(tenantId, waiting);
    this.dispatch();
    return promise.finally(() => signal?.removeEventListener('abort', stopWaiting));
  }

  async close(): Promise<void> {
    this.closed = true;
    const error = new PawlError('UNAVAILABLE', 'documents are no longer rendered here');
    for (let left = this.queue.shift(); left !== undefined; left = this.queue.shift()) left.give(error);
    await Promise.all([...this.idle, ...this.busy].map((renderer) => renderer.stop()));
  }

  private dispatch(): void {
    while (!this.closed && this.busy.size < this.options.processes) {
      const next = this.queue.shift();
      if (next === undefined) return;
      void this.work(next);
    }
  }

  private async work({ job, settle, give }: Waiting): Promise<void> {
    try {
      const startedAt = performance.now();
      settle(await this.runOn(this.takeProcess(), job));
      if (job.kind === 'render') this.options.rendered?.(performance.now() - startedAt);
    } catch (error) {
      give(error as Error);
    }
    this.dispatch();
  }

  private async runOn(renderer: RenderProcess, job: RenderJob): Promise<RenderOutcome> {
    this.busy.add(renderer);
    const outcome = await renderer.run(job);
    this.busy.delete(renderer);
    if (renderer.usable) this.idle.push(renderer);
    return renderer.wasFilledByOthers ? this.runOn(this.newProcess(), job) : outcome;
  }

  private takeProcess(): RenderProcess {
    for (let idle = this.idle.pop(); idle !== undefined; idle = this.idle.pop()) if (idle.usable) return idle;
    return this.newProcess();
  }

  private newProcess(): RenderProcess {
    const { allowLoops, strict, nullText, timeoutMs, memoryMb, outputLimitBytes } = this.options;
    return new RenderProcess({ allowLoops, strict, nullText, timeoutMs, memoryMb, outputLimitBytes });
  }
}
