// Receives the response to one request piece by piece, without a stream in between: most responses are one piece, and a stream
// costs more than the response. Only compressed bodies go through one (response-stream.ts). It reports its outcome once and
// ignores everything after that.

import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Connection, Recipient } from './connections.ts';
import { type ReadBody, type ReadLimit, readBody, tooLarge } from './response-stream.ts';

export interface Answer extends ReadBody {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface AnswerWanted {
  readonly limit: ReadLimit;
  /** Whether only the status and headers of this response matter. */
  isBodyUnwanted(status: number, headers: Readonly<Record<string, string>>): boolean;
  received(answer: Answer): void;
  failed(error: unknown): void;
}

type RawHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** An unwanted body is read to its end, if that is near, so that the connection can be reused. */
const UNWANTED: ReadLimit = { maxBytes: 16 * 1024, onOversize: 'truncate' };
const NOTHING = Buffer.alloc(0);

export class Receiver implements Recipient {
  connection: Connection | null = null;
  isOver = false;
  private readonly wanted: AnswerWanted;
  private controller: Dispatcher.DispatchController | null = null;
  private limit: ReadLimit;
  private status = 0;
  private headers: Readonly<Record<string, string>> = {};
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private compressed: Readable | null = null;

  constructor(wanted: AnswerWanted) {
    this.wanted = wanted;
    this.limit = wanted.limit;
  }

  /** Nobody waits for the response any more. A request that waits for a connection gives up when it gets one. */
  stop(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.disconnect();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.isOver) this.disconnect();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: RawHeaders): void {
    // An interim response, such as 103: the real one follows.
    if (status < 200 || this.isOver) return;
    this.status = status;
    this.headers = joinHeaders(headers);
    if (this.wanted.isBodyUnwanted(status, this.headers)) {
      this.limit = UNWANTED;
    } else if (isEncoded(this.headers['content-encoding'])) {
      this.decompress(controller, this.headers['content-encoding']);
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isOver) return;
    if (this.compressed !== null) {
      if (!this.compressed.push(chunk)) controller.pause();
      return;
    }
    const { maxBytes, onOversize } = this.limit;
    this.size += chunk.length;
    if (this.size <= maxBytes) {
      this.chunks.push(chunk);
    } else if (onOversize === 'fail') {
      this.fail(tooLarge(maxBytes));
    } else {
      this.chunks.push(chunk.subarray(0, chunk.length - (this.size - maxBytes)));
      this.finish({ body: this.body(), truncated: true });
    }
  }

  onResponseEnd(): void {
    this.leave()?.done();
    if (this.compressed !== null) this.compressed.push(null);
    else if (!this.isOver) this.finish({ body: this.body(), truncated: false });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: unknown): void {
    this.leave()?.broken();
    if (this.compressed !== null) this.compressed.destroy(error as Error);
    else this.fail(error);
  }

  private leave(): Connection | null {
    const { connection } = this;
    this.connection = null;
    return connection;
  }

  private decompress(controller: Dispatcher.DispatchController, encoding: string | undefined): void {
    const source = new Readable({ read: () => controller.resume() });
    // A destroyed source emits an error, which ends the process when nobody listens.
    source.on('error', () => {});
    this.compressed = source;
    readBody(source, encoding, this.limit)
      .then(
        (content) => this.finish(content),
        (error: unknown) => this.fail(error),
      )
      .finally(() => source.destroy());
  }

  private body(): Buffer {
    const { chunks } = this;
    if (chunks.length === 0) return NOTHING;
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  }

  private finish(content: ReadBody): void {
    if (this.isOver) return;
    this.isOver = true;
    // Part of it may still be on the connection.
    if (content.truncated || this.compressed !== null) this.disconnect();
    const { body, truncated } = content;
    this.wanted.received({ status: this.status, headers: this.headers, body, truncated });
  }

  private fail(error: unknown): void {
    if (this.isOver) return;
    this.isOver = true;
    this.disconnect();
    this.wanted.failed(error);
  }

  /** Does nothing after a complete response: its connection is in use again. */
  private disconnect(): void {
    this.controller?.abort(ABANDONED);
  }
}

const ABANDONED = new Error('the answer is not wanted any more');

function isEncoded(encoding: string | undefined): boolean {
  return encoding !== undefined && encoding !== '' && encoding !== 'identity';
}

/** Names come in lower case; repeated ones have several values. */
function joinHeaders(raw: RawHeaders): Readonly<Record<string, string>> {
  const entries = Object.entries(raw);
  if (entries.every(([, value]) => typeof value === 'string')) return raw as Readonly<Record<string, string>>;
  return Object.fromEntries(entries.map(([name, value = '']) => [name, [value].flat().join(', ')]));
}
