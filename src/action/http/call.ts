// One request with all its redirects, until its response, its deadline or the caller's abort. Each hop is a request of its own.
// Size and time are capped. Every failure is a TerminalError or a RetryableError; only an abort by the caller is thrown as the
// signal's own reason.

import type { Dispatcher } from 'undici';
import { RetryableError, TerminalError } from '../../core/error/error.ts';
import type { HttpResponse } from '../http-client.ts';
import type { StopSignal } from '../stop.ts';
import type { Connections } from './connections.ts';
import { describeRequest, networkError } from './network-error.ts';
import { type Answer, type AnswerWanted, Receiver } from './receiver.ts';
import { type Hop, nextHop } from './redirect.ts';
import type { ReadLimit } from './response-stream.ts';
import { urlProblem } from './url.ts';

export interface CallOptions {
  readonly maxRedirects: number;
  readonly limit: ReadLimit;
  /** null: as long as the caller waits. */
  readonly timeoutMs: number | null;
  readonly signal: StopSignal | undefined;
}

/** An error that `first` throws is an outcome too. */
export function call(connections: Connections, first: () => Hop, options: CallOptions): Promise<HttpResponse> {
  return new Promise((resolve, reject) => new Call(connections, first(), options, resolve, reject).start());
}

class Call implements AnswerWanted {
  readonly limit: ReadLimit;
  private readonly connections: Connections;
  private readonly first: Hop;
  private readonly options: CallOptions;
  private readonly resolve: (response: HttpResponse) => void;
  private readonly reject: (reason: unknown) => void;
  private hop: Hop;
  private next: Hop | null = null;
  private redirects = 0;
  private receiver: Receiver | null = null;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    connections: Connections,
    first: Hop,
    options: CallOptions,
    resolve: (response: HttpResponse) => void,
    reject: (reason: unknown) => void,
  ) {
    this.connections = connections;
    this.first = first;
    this.hop = first;
    this.options = options;
    this.limit = options.limit;
    this.resolve = resolve;
    this.reject = reject;
  }

  start(): void {
    const { signal, timeoutMs } = this.options;
    if (signal?.aborted) return this.reject(signal.reason);
    if (timeoutMs !== null) this.timer = setTimeout(expire, timeoutMs, this);
    signal?.addEventListener('abort', this);
    this.send();
  }

  /** The caller's signal was aborted. */
  handleEvent(): void {
    this.stop(this.options.signal!.reason);
  }

  expire(): void {
    const { timeoutMs } = this.options;
    this.stop(new RetryableError('HTTP_TIMEOUT', `The request did not finish within ${timeoutMs} ms`));
  }

  isBodyUnwanted(status: number, { location }: Readonly<Record<string, string>>): boolean {
    this.next = this.options.maxRedirects > 0 ? nextHop(this.hop, status, location) : null;
    return this.next !== null;
  }

  received({ status, headers, body, truncated }: Answer): void {
    if (this.next !== null) return this.follow(this.next);
    this.leave();
    this.resolve({ status, headers, body, truncated, url: this.hop.target.href });
  }

  failed(error: unknown): void {
    this.leave();
    this.reject(networkError(error, describeRequest(this.hop.method, this.hop.target.url)));
  }

  private follow(next: Hop): void {
    const { maxRedirects } = this.options;
    this.redirects += 1;
    if (this.redirects > maxRedirects) {
      const from = describeRequest(this.first.method, this.first.target.url);
      return this.failed(new TerminalError('TOO_MANY_REDIRECTS', `${from} redirected more than ${maxRedirects} times`));
    }
    const problem = urlProblem(next.target.url);
    if (problem !== null) {
      return this.failed(new TerminalError('SSRF_BLOCKED', `The server redirected to a URL that ${problem}`));
    }
    this.hop = next;
    this.next = null;
    this.send();
  }

  private send(): void {
    const { target, headers, body } = this.hop;
    const { origin, path } = target;
    const method = this.hop.method as Dispatcher.HttpMethod;
    this.receiver = new Receiver(this);
    this.connections.dispatch(origin, { path, method, headers: headers as string[], body }, this.receiver);
  }

  private stop(reason: unknown): void {
    this.leave();
    this.receiver?.stop();
    this.reject(reason);
  }

  private leave(): void {
    clearTimeout(this.timer);
    this.options.signal?.removeEventListener('abort', this);
  }
}

function expire(call: Call): void {
  call.expire();
}
