// A process that is started again whenever it ends, whoever ended it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const START_AGAIN_MS = 200;
const LAST_WORDS = 4_000;
const READY_WITHIN_MS = 30_000;

export class KeptProcess {
  deaths = 0;
  /** The error output of its last life. */
  words = '';
  private readonly entry: string;
  private readonly settings: object;
  private child: ChildProcess;
  private ready = Promise.withResolvers<void>();
  private closing = false;
  private lives = 0;

  constructor(entry: string, settings: object) {
    this.entry = fileURLToPath(new URL(entry, import.meta.url));
    this.settings = settings;
    this.child = this.launch();
  }

  /** Resolves when the process says that it is up. */
  async isReady(): Promise<void> {
    const giveUp = new AbortController();
    const late = delay(READY_WITHIN_MS, null, { signal: giveUp.signal }).then(
      () => {
        throw new Error(`${this.entry} was not up within ${READY_WITHIN_MS} ms: ${this.words}`);
      },
      () => {},
    );
    await Promise.race([this.ready.promise, late]);
    giveUp.abort();
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }

  async close(): Promise<void> {
    this.closing = true;
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exit;
  }

  private launch(): ChildProcess {
    const settings = JSON.stringify({ ...this.settings, life: this.lives++ });
    const child = spawn(process.execPath, ['--no-warnings', this.entry, settings], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    child.stderr!.on('data', (chunk: Buffer) => {
      this.words = (this.words + chunk).slice(-LAST_WORDS);
    });
    child.on('message', () => this.ready.resolve());
    child.once('exit', () => {
      this.deaths++;
      if (this.closing) return;
      this.ready = Promise.withResolvers();
      setTimeout(() => {
        if (!this.closing) this.child = this.launch();
      }, START_AGAIN_MS);
    });
    return child;
  }
}
