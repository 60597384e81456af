// One call of a plugin in its own process: with limits, one pipe, and a certain end. The process has no environment, no rights to
// files, other processes or threads (Node's permission model), and no network: it gets a network namespace of its own where the
// system allows one. It is killed when it is late, takes too much memory, says too much, or the attempt is aborted.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

const PROGRAM = import.meta.url.endsWith('.ts')
  ? new URL('./plugin-program.ts', import.meta.url)
  : new URL('./plugin-program.js', import.meta.url);

/** Node itself, before the plugin does anything. */
const OVERHEAD_MB = 96;
const LOOK_EVERY_MS = 50;
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_CALLS_AT_ONCE = 16;

export interface PluginCall {
  readonly code: string;
  readonly handler: string;
  readonly input: unknown;
  readonly memoryMb: number;
  readonly timeoutMs: number;
  /** `own`: a network namespace in which nothing can be reached. `loopback`: one in which it reaches itself. `shared`: that of the runner. */
  readonly network: 'own' | 'loopback' | 'shared';
  readonly signal: AbortSignal;
  /** The functions that the plugin may call, by name. */
  readonly apis: Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;
}

export type PluginEnd =
  | { readonly kind: 'done'; readonly output: unknown }
  | { readonly kind: 'failed'; readonly message: string; readonly retryable: boolean }
  /** It broke a limit or died, which counts against the plugin. */
  | { readonly kind: 'broken'; readonly message: string }
  | { readonly kind: 'stopped' };

export function callPlugin(call: PluginCall): Promise<PluginEnd> {
  return new Promise((resolve) => new Running(call, resolve).start());
}

function inNetwork(network: PluginCall['network'], node: readonly string[]): readonly string[] {
  switch (network) {
    case 'shared':
      return node;
    case 'own':
      return ['unshare', '--user', '--map-current-user', '--net', '--', ...node];
    case 'loopback':
      // The address of itself is up, and the right to change networks is gone before the plugin runs.
      return [
        ...['unshare', '--user', '--map-root-user', '--net', '--', 'sh', '-c'],
        ...['ip link set lo up && exec setpriv --bounding-set -all --inh-caps -all --no-new-privs "$@"', 'sh', ...node],
      ];
  }
}

class Running {
  private readonly call: PluginCall;
  private readonly resolve: (end: PluginEnd) => void;
  private readonly child: ChildProcess;
  private readonly pipe: Socket;
  private readonly timers: NodeJS.Timeout[] = [];
  private rest = '';
  private bytes = 0;
  private openCalls = 0;
  private isOver = false;

  constructor(call: PluginCall, resolve: (end: PluginEnd) => void) {
    this.call = call;
    this.resolve = resolve;
    const path = PROGRAM.pathname;
    const node = [
      process.execPath,
      `--max-old-space-size=${call.memoryMb}`,
      '--permission',
      `--allow-fs-read=${path}`,
      '--no-warnings',
      path,
    ];
    const [command, ...args] = inNetwork(call.network, node);
    this.child = spawn(command!, args, {
      cwd: '/',
      env: {},
      detached: true,
      // Its output is discarded, however much it is.
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    this.pipe = this.child.stdio[3] as Socket;
  }

  start(): void {
    const { code, handler, input, apis, timeoutMs, signal } = this.call;
    this.child.once('error', (error) =>
      this.end({ kind: 'broken', message: `it cannot be started: ${error.message}` }),
    );
    // After its last message.
    this.child.once('close', (exit, how) =>
      this.end({ kind: 'broken', message: `it ended without an answer (${how ?? exit})` }),
    );
    this.pipe.setEncoding('utf8');
    this.pipe.on('data', (text: string) => this.hear(text));
    this.pipe.on('error', () => {});
    this.timers.push(
      setTimeout(() => this.end({ kind: 'broken', message: `it took longer than ${timeoutMs} ms` }), timeoutMs),
    );
    this.timers.push(setInterval(() => this.weigh(), LOOK_EVERY_MS));
    signal.addEventListener('abort', this.stopped, { once: true });
    if (signal.aborted) this.stopped();
    this.say({ code, handler, input, apis: Object.keys(apis) });
  }

  private readonly stopped = (): void => this.end({ kind: 'stopped' });

  private say(message: object): void {
    if (!this.isOver) this.pipe.write(`${JSON.stringify(message)}\n`);
  }

  private weigh(): void {
    const mb = residentMb(this.child.pid);
    const most = this.call.memoryMb + OVERHEAD_MB;
    if (mb > most) this.end({ kind: 'broken', message: `it took more than its ${this.call.memoryMb} MB of memory` });
  }

  private hear(text: string): void {
    this.bytes += text.length;
    if (this.bytes > MOST_BYTES) return this.end({ kind: 'broken', message: `it said more than ${MOST_BYTES} bytes` });
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop()!;
    for (const line of lines) this.take(line);
  }

  private take(line: string): void {
    if (this.isOver) return;
    let message: {
      done?: unknown;
      failed?: unknown;
      retryable?: unknown;
      call?: unknown;
      id?: unknown;
      args?: unknown;
    };
    try {
      message = JSON.parse(line) as typeof message;
    } catch {
      return this.end({ kind: 'broken', message: 'it wrote something else than JSON into its pipe' });
    }
    if (typeof message !== 'object' || message === null)
      return this.end({ kind: 'broken', message: 'it broke its protocol' });
    if ('done' in message) return this.end({ kind: 'done', output: message.done });
    if ('failed' in message) {
      return this.end({ kind: 'failed', message: String(message.failed), retryable: message.retryable === true });
    }
    void this.answer(String(message.call), message.id, Array.isArray(message.args) ? message.args : []);
  }

  private async answer(name: string, id: unknown, args: unknown[]): Promise<void> {
    const { apis } = this.call;
    if (!Object.hasOwn(apis, name))
      return this.say({ id, error: `"${name}" is not among the allowed APIs of this plugin` });
    if (++this.openCalls > MOST_CALLS_AT_ONCE) {
      return this.end({ kind: 'broken', message: `it asked for more than ${MOST_CALLS_AT_ONCE} things at once` });
    }
    try {
      this.say({ id, value: (await apis[name]!(...args)) ?? null });
    } catch (error) {
      this.say({ id, error: (error as Error).message });
    } finally {
      this.openCalls--;
    }
  }

  /** The first end counts. The whole process group is gone when the answer is given. */
  private end(end: PluginEnd): void {
    if (this.isOver) return;
    this.isOver = true;
    for (const timer of this.timers) clearTimeout(timer);
    this.call.signal.removeEventListener('abort', this.stopped);
    try {
      if (this.child.pid !== undefined) process.kill(-this.child.pid, 'SIGKILL');
    } catch {
      // It is already gone.
    }
    this.pipe?.destroy();
    const isGone = this.child.pid === undefined || this.child.exitCode !== null || this.child.signalCode !== null;
    if (isGone) this.resolve(end);
    else this.child.once('exit', () => this.resolve(end));
  }
}

const PAGE_KB = 4;

function residentMb(pid: number | undefined): number {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    return (pages * PAGE_KB) / 1024;
  } catch {
    return 0;
  }
}
