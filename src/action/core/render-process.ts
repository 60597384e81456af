// One rendering process, seen from outside: a job in, an outcome out, whatever the job does. A late process is killed from here,
// and one that is out of memory dies by itself; neither is used again, and the job cannot prevent that (S4). A process instead of
// a thread, because a thread that is out of memory can take its whole process with it.

import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { MAX_STRETCH, type ProcessOptions, READY, type RenderJob, type RenderOutcome } from './render-job.ts';

const PROGRAM = import.meta.url.endsWith('.ts')
  ? new URL('./render-program.ts', import.meta.url)
  : new URL('./render-program.js', import.meta.url);

/** A process stops by itself at its limit, which is cheaper. This much later it is killed. */
const GRACE_MS = 100;
/** Checking a schema or a value is not rendering a document. A longer check is deliberate, and others wait for the process. */
const CHECK_MS = 500;

interface Running {
  readonly finish: (outcome: RenderOutcome) => void;
  readonly limitMs: number;
  timer: NodeJS.Timeout | undefined;
}

export class RenderProcess {
  private readonly child: ChildProcess;
  private readonly options: ProcessOptions;
  private readonly gone: Promise<void>;
  private running: Running | null = null;
  private isReady = false;
  private jobs = 0;
  private isDead = false;
  private wasKilled = false;

  constructor(options: ProcessOptions) {
    this.options = options;
    this.child = fork(PROGRAM, [JSON.stringify(options)], {
      env: {},
      // It may read its own program and start its watchdog: no writing, no other processes.
      execArgv: [`--max-old-space-size=${options.memoryMb}`, '--permission', '--allow-fs-read=*', '--allow-worker'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.gone = new Promise((resolve) => this.child.once('exit', () => resolve()));
    this.child.on('message', (message: typeof READY | RenderOutcome) => this.receive(message));
    this.child.on('error', (error) => this.break(`no rendering process: ${error.message}`));
    this.child.on('exit', () => this.break('the rendering process ended'));
    this.hold(false);
  }

  get usable(): boolean {
    return !this.isDead;
  }

  /** It died by itself, perhaps because of earlier jobs: the last job proves nothing. */
  get wasFilledByOthers(): boolean {
    return this.isDead && !this.wasKilled && this.jobs > 1;
  }

  /** One at a time. Never rejects. */
  run(job: RenderJob): Promise<RenderOutcome> {
    return new Promise((finish) => {
      const { timeoutMs } = this.options;
      const limitMs = job.kind === 'render' ? timeoutMs : Math.min(timeoutMs, CHECK_MS);
      this.running = { finish, limitMs, timer: undefined };
      this.jobs += 1;
      this.hold(true);
      this.child.send(job);
      if (this.isReady) this.startClock();
    });
  }

  async stop(): Promise<void> {
    this.kill();
    this.child.ref();
    await this.gone;
  }

  private kill(): void {
    this.isDead = true;
    this.wasKilled = true;
    this.child.kill('SIGKILL');
  }

  private receive(message: typeof READY | RenderOutcome): void {
    if (message !== READY) return this.finish(message);
    this.isReady = true;
    this.startClock();
  }

  /** Loading the program is not the job's time. */
  private startClock(): void {
    const { running } = this;
    if (running === null) return;
    const { limitMs } = running;
    const before = processorMs(this.child.pid);
    const giveUpAt = performance.now() + limitMs * MAX_STRETCH;
    const look = (): void => {
      const now = processorMs(this.child.pid);
      const leftMs = before === null || now === null ? 0 : limitMs - (now - before);
      if (leftMs <= 0 || performance.now() > giveUpAt) this.late(limitMs);
      else running.timer = setTimeout(look, leftMs + GRACE_MS);
    };
    running.timer = setTimeout(look, limitMs + GRACE_MS);
  }

  private late(limitMs: number): void {
    const message = `this takes longer than the ${limitMs} ms it may`;
    this.kill();
    this.finish({ kind: 'refused', code: 'TEMPLATE_TIMEOUT', message });
  }

  /** A ready process that was not stopped ends during a job for one reason only: memory. */
  private break(message: string): void {
    const isMemory = this.isReady && !this.isDead;
    const needed = `this needs more memory than the ${this.options.memoryMb} MB it may have`;
    this.isDead = true;
    this.finish(
      isMemory
        ? { kind: 'refused', code: 'TEMPLATE_ERROR', message: needed }
        : { kind: 'refused', code: 'INTERNAL_ERROR', message },
    );
  }

  private finish(outcome: RenderOutcome): void {
    const { running } = this;
    if (running === null) return;
    this.running = null;
    clearTimeout(running.timer);
    this.hold(false);
    running.finish(outcome);
  }

  /** Only a running job keeps us alive. */
  private hold(isBusy: boolean): void {
    if (isBusy) this.child.ref();
    else this.child.unref();
    this.child.channel?.[isBusy ? 'ref' : 'unref']();
  }
}

// How long a process has worked: the CPU time of its first thread. On a busy machine much more real time passes.

/** Milliseconds; null on systems other than Linux, which do not tell. */
function processorMs(pid: number | undefined): number | null {
  try {
    const nanoseconds = Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ', 1)[0]);
    return nanoseconds > 0 ? nanoseconds / 1e6 : null;
  } catch {
    return null;
  }
}
