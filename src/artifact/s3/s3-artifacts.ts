// Artifacts in an S3 bucket or a compatible store. Bytes stream through: at most two parts are in memory. A small artifact is one
// request; a larger one is a multipart upload, which is completed or aborted as a whole, so a reader never sees half of one.

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { PawlError } from '../../core/error/pawl-error.ts';
import type { ArtifactBytes, ArtifactKey } from '../artifact-bytes.ts';

export interface S3Options {
  /** `https://s3.eu-central-1.amazonaws.com`, or another S3-compatible server. */
  readonly endpoint: string;
  readonly bucket: string;
  /** The prefix of every key. */
  readonly prefix: string;
  /** The authorization headers. */
  readonly sign: (request: S3Request) => Record<string, string>;
  readonly partBytes?: number;
}

export interface S3Request {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** S3 refuses parts of less than 5 MB, except the last. */
const PART_BYTES = 8 * 1024 * 1024;
const TRIES = 3;
const PAUSE_MS = 200;
const TIMEOUT_MS = 60_000;

export function s3Artifacts(options: S3Options): ArtifactBytes {
  const { prefix, partBytes = PART_BYTES } = options;
  const pathOf = ({ tenantId, artifactId }: ArtifactKey) => `${prefix}${encodeURIComponent(tenantId)}/${artifactId}`;
  return {
    async write(key, content) {
      const hash = createHash('sha256');
      let sizeBytes = 0;
      const upload = new Upload(options, pathOf(key));
      try {
        for await (const part of partsOf(content, partBytes)) {
          hash.update(part);
          sizeBytes += part.length;
          await upload.add(part);
        }
        await upload.complete();
      } catch (error) {
        await upload.abort();
        throw error;
      }
      return { sizeBytes, sha256: hash.digest('hex') };
    },
    async open(key) {
      const answer = await ask(options, 'GET', pathOf(key));
      if (answer.status === 404)
        throw new PawlError('ARTIFACT_GONE', `the bytes of artifact ${key.artifactId} are not in the artifact store`);
      const { body } = await successful(answer, 'read');
      return body === null ? Readable.from([]) : Readable.fromWeb(body as ReadableStream<Uint8Array>);
    },
    async remove(key) {
      const answer = await ask(options, 'DELETE', pathOf(key));
      if (answer.status !== 404) await successful(answer, 'removed');
      await answer.body?.cancel();
    },
  };
}

/** A whole object of the bucket by its key; null: it does not exist. */
export async function s3Object(options: S3Options, key: string, maxBytes: number): Promise<Buffer | null> {
  const answer = await ask(options, 'GET', key.split('/').map(encodeURIComponent).join('/'));
  if (answer.status === 404) return null;
  const { body } = await successful(answer, 'read');
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`the object is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Content that fits into one part is one request. The first part is held back until it is known whether there are more. */
class Upload {
  private readonly options: S3Options;
  private readonly path: string;
  private held: Uint8Array | null = null;
  private uploadId: string | null = null;
  private readonly tags: string[] = [];

  constructor(options: S3Options, path: string) {
    this.options = options;
    this.path = path;
  }

  async add(part: Uint8Array): Promise<void> {
    if (this.held !== null) await this.send(this.held);
    this.held = part;
  }

  async complete(): Promise<void> {
    const last = this.held ?? new Uint8Array();
    if (this.uploadId === null) {
      await successful(await ask(this.options, 'PUT', this.path, {}, last), 'written');
      return;
    }
    await this.send(last);
    const parts = this.tags.map(
      (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`,
    );
    const list = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    const answer = await ask(this.options, 'POST', this.path, { uploadId: this.uploadId }, list);
    // S3 may answer 200 with an error in the body.
    const text = await (await successful(answer, 'completed')).text();
    if (text.includes('<Error>')) throw new Error(`the artifact could not be completed: ${codeIn(text)}`);
  }

  async abort(): Promise<void> {
    if (this.uploadId === null) return;
    await ask(this.options, 'DELETE', this.path, { uploadId: this.uploadId }).catch(() => {});
  }

  private async send(part: Uint8Array): Promise<void> {
    this.uploadId ??= await this.begin();
    const query = { partNumber: String(this.tags.length + 1), uploadId: this.uploadId };
    const answer = await successful(await ask(this.options, 'PUT', this.path, query, part), 'written');
    const tag = answer.headers.get('etag');
    if (tag === null) throw new Error('the artifact store sent no ETag for a part');
    this.tags.push(tag);
  }

  private async begin(): Promise<string> {
    const answer = await successful(await ask(this.options, 'POST', this.path, { uploads: '' }), 'begun');
    const [, uploadId] = /<UploadId>([^<]+)<\/UploadId>/.exec(await answer.text()) ?? [];
    if (uploadId === undefined) throw new Error('the artifact store sent no UploadId');
    return uploadId;
  }
}

/** Pieces of this size; the last may be smaller. */
async function* partsOf(content: AsyncIterable<Uint8Array>, partBytes: number): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    for (let at = 0; at < chunk.length; ) {
      const piece = chunk.subarray(at, at + partBytes - bytes);
      pieces.push(piece);
      bytes += piece.length;
      at += piece.length;
      if (bytes < partBytes) continue;
      yield Buffer.concat(pieces);
      pieces = [];
      bytes = 0;
    }
  }
  if (bytes > 0) yield Buffer.concat(pieces);
}

/** Temporary failures of the store are retried. */
async function ask(
  { endpoint, bucket, sign }: S3Options,
  method: string,
  path: string,
  query: Readonly<Record<string, string>> = {},
  body: string | Uint8Array = '',
): Promise<Response> {
  const url = new URL(`${endpoint.replace(/\/$/, '')}/${bucket}/${path}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt === TRIES;
    try {
      const headers = sign({ method, url, headers: {}, body });
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const isBare = method === 'GET' || method === 'DELETE';
      const answer = await fetch(url, {
        method,
        headers,
        signal,
        redirect: 'error',
        ...(isBare ? {} : { body: body as BodyInit }),
      });
      if (isLast || (answer.status < 500 && answer.status !== 429)) return answer;
      await answer.body?.cancel();
    } catch (error) {
      if (isLast) throw new Error(`the artifact store does not answer: ${(error as Error).message}`, { cause: error });
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * 2 ** attempt * (0.5 + Math.random() / 2)));
  }
}

async function successful(answer: Response, done: string): Promise<Response> {
  if (answer.ok) return answer;
  const text = await answer.text().catch(() => '');
  throw new Error(`the artifact could not be ${done}: the store answered ${answer.status} ${codeIn(text)}`);
}

const codeIn = (text: string): string => /<Code>([^<]{1,100})<\/Code>/.exec(text)?.[1] ?? '';
