// Talks to a server for the commands that need one: `--url` or PAWL_URL says where, PAWL_TOKEN as whom (a token or an API key).

import type { Command } from 'commander';
import { clientPreferences } from '../config.ts';
import type { ErrorEnvelope } from '../protocol/error.ts';
import { UsageError } from './exit.ts';

export interface ClientFlags {
  readonly url?: string;
  readonly json?: boolean;
}

/** What the server said no to. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  /** Of the server's envelope; undefined when it gave no such answer. */
  readonly code: string | undefined;
  readonly details: unknown;

  constructor(message: string, { code, details }: { code?: string; details?: unknown } = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

export class ApiClient {
  private readonly base: string;
  private readonly headers: Record<string, string>;

  constructor({ url }: ClientFlags) {
    const preferences = clientPreferences();
    const base = url ?? preferences.url;
    if (!URL.canParse(base)) throw new UsageError(`"${base}" is not a URL such as http://127.0.0.1:7295`);
    this.base = base.replace(/\/+$/, '');
    this.headers = preferences.token === undefined ? {} : { authorization: `Bearer ${preferences.token}` };
  }

  get<Body>(path: string): Promise<Body> {
    return this.ask<Body>('GET', path);
  }

  post<Body>(path: string, body: unknown = {}): Promise<Body> {
    return this.ask<Body>('POST', path, body);
  }

  put<Body>(path: string, body: unknown): Promise<Body> {
    return this.ask<Body>('PUT', path, body);
  }

  /** Server-sent events as they come, until the server ends them. */
  async *events(path: string): AsyncGenerator<{ event: string; data: string }> {
    const answer = await this.send('GET', path, { accept: 'text/event-stream' });
    if (!answer.ok || answer.body === null) throw await refusal(answer);
    let rest = '';
    for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
      const messages = (rest + piece).split('\n\n');
      rest = messages.pop() ?? '';
      for (const message of messages) {
        const event = /^event: (.*)$/m.exec(message)?.[1];
        const data = /^data: (.*)$/m.exec(message)?.[1];
        if (event !== undefined && data !== undefined) yield { event, data };
      }
    }
  }

  private async ask<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const isJson = body === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await this.send(method, path, isJson, body === undefined ? undefined : JSON.stringify(body));
    if (!answer.ok) throw await refusal(answer);
    return (await answer.json()) as Body;
  }

  private async send(method: string, path: string, headers: Record<string, string>, body?: string): Promise<Response> {
    const request = { method, headers: { ...this.headers, ...headers }, ...(body === undefined ? {} : { body }) };
    try {
      return await fetch(`${this.base}${path}`, request);
    } catch {
      throw new RefusedError(
        `no server answers at ${this.base}. Start one with \`pawl dev\`, or name another with --url.`,
      );
    }
  }
}

async function refusal(answer: Response): Promise<Error> {
  const envelope = (await answer.json().catch(() => null)) as ErrorEnvelope | null;
  if (envelope?.error === undefined)
    return new RefusedError(`the server answered ${answer.status}, and it is not Pawl`);
  const { code, message } = envelope.error;
  const advice = answer.status === 401 ? ' (set PAWL_TOKEN)' : '';
  return new RefusedError(`${message} [${code}]${advice}`, envelope.error);
}

/** The options that every such command has. */
export function clientCommand(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .option('--url <url>', 'the server (PAWL_URL, or http://127.0.0.1:7295)')
    .option('--json', 'print JSON');
}

export const printJson = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
