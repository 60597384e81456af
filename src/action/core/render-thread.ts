// One rendering thread, seen from outside: a job in, an outcome out, whatever the job does. A thread that is late or out of
// memory is stopped from here and not used again; nothing in the job has a say in it (S4).

import { Worker } from 'node:worker_threads';
import { READY, type RenderJob, type RenderOutcome, type ThreadOptions } from './render-job.ts';

const PROGRAM = import.meta.url.endsWith('.ts')
  ? new URL('./render-worker.ts', import.meta.url)
  : new URL('./render-worker.js', import.meta.url);

/** The thread stops itself at its limit, which is cheaper; this much later it is stopped. */
const GRACE_MS = 100;

interface Running {
  readonly finish: (outcome: RenderOutcome) => void;
  timer: NodeJS.Timeout | undefined;
}

export class RenderThread {
  private readonly worker: Worker;
  private readonly options: ThreadOptions;
  private running: Running | null = null;
  private isReady = false;
  private isDead = false;

  constructor(options: ThreadOptions) {
    this.options = options;
    this.worker = new Worker(PROGRAM, {
      workerData: options,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: options.memoryMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    });
    this.worker.unref();
    this.worker.on('message', (message: typeof READY | RenderOutcome) => this.receive(message));
    this.worker.on('error', (error) => this.break(error));
    this.worker.on('exit', () => this.break(new Error('the rendering thread ended')));
  }

  get usable(): boolean {
    return !this.isDead;
  }

  /** One at a time. Never rejects. */
  run(job: RenderJob): Promise<RenderOutcome> {
    return new Promise((finish) => {
      this.running = { finish, timer: undefined };
      this.worker.ref();
      this.worker.postMessage(job);
      if (this.isReady) this.startClock();
    });
  }

  async stop(): Promise<void> {
    this.isDead = true;
    await this.worker.terminate();
  }

  private receive(message: typeof READY | RenderOutcome): void {
    if (message !== READY) return this.finish(message);
    this.isReady = true;
    this.startClock();
  }

  /** Loading the program is not the job's time. */
  private startClock(): void {
    if (this.running === null) return;
    this.running.timer = setTimeout(() => this.late(), this.options.timeoutMs + GRACE_MS);
  }

  private late(): void {
    const message = `the document took longer than ${this.options.timeoutMs} ms`;
    void this.stop();
    this.finish({ kind: 'refused', code: 'TEMPLATE_TIMEOUT', message });
  }

  private break(error: Error): void {
    this.isDead = true;
    const isMemory = (error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY';
    const message = `the document needs more memory than ${this.options.memoryMb} MB`;
    this.finish(
      isMemory
        ? { kind: 'refused', code: 'TEMPLATE_ERROR', message, problems: [{ code: 'OUT_OF_MEMORY', path: '', message }] }
        : { kind: 'refused', code: 'INTERNAL_ERROR', message: error.message },
    );
  }

  private finish(outcome: RenderOutcome): void {
    const { running } = this;
    if (running === null) return;
    this.running = null;
    clearTimeout(running.timer);
    if (!this.isDead) this.worker.unref();
    running.finish(outcome);
  }
}
