// The program of a plugin's process: takes one job over the pipe, calls the plugin's handler, and returns its answer. It runs
// without an environment, without rights to files, processes and threads, and mostly without a network. The plugin is a single
// module, given as text. All access to the outside goes through `api`, one line of JSON each way.

import { Socket } from 'node:net';
import { createInterface } from 'node:readline';

interface Job {
  readonly code: string;
  readonly handler: string;
  readonly input: unknown;
  readonly apis: readonly string[];
}

type Handler = (input: unknown, api: Record<string, unknown>) => unknown;
type Answer = { readonly id: number; readonly value?: unknown; readonly error?: string };

const pipe = new Socket({ fd: 3 });
const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
let calls = 0;

const send = (message: object): void => void pipe.write(`${JSON.stringify(message)}\n`);

function call(name: string, args: readonly unknown[]): Promise<unknown> {
  const id = ++calls;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    send({ call: name, id, args });
  });
}

function apiOf(names: readonly string[]): Record<string, unknown> {
  const api: Record<string, unknown> = {};
  for (const name of names) api[name] = (...args: unknown[]) => call(name, args);
  return api;
}

async function work({ code, handler, input, apis }: Job): Promise<void> {
  try {
    const url = `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`;
    const loaded = (await import(url)) as { default?: Handler; handlers?: Record<string, Handler> };
    const run = loaded.handlers?.[handler] ?? loaded.default;
    if (typeof run !== 'function') throw new Error(`the plugin has no handler "${handler}" and no default export`);
    send({ done: (await run(input, apiOf(apis))) ?? {} });
  } catch (error) {
    const { message, retryable } = (error ?? {}) as { message?: unknown; retryable?: unknown };
    send({ failed: String(message ?? error).slice(0, 2_000), retryable: retryable === true });
  }
}

let isBusy = false;
createInterface({ input: pipe }).on('line', (line) => {
  const message = JSON.parse(line) as Job | Answer;
  if (!isBusy) {
    isBusy = true;
    void work(message as Job);
    return;
  }
  const { id, value, error } = message as Answer;
  const asked = waiting.get(id);
  waiting.delete(id);
  if (error === undefined) asked?.resolve(value);
  else asked?.reject(new Error(error));
});
