// Reads a response body, decompressed, up to a number of bytes. The cap counts decompressed bytes, piece by piece, so a small
// response cannot become large in memory. The input is capped as well, because compressed data may expand to nothing for ever.

import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { TerminalError } from '../../core/error/error.ts';

export interface ReadLimit {
  readonly maxBytes: number;
  readonly onOversize: 'fail' | 'truncate';
}

export interface ReadBody {
  readonly body: Buffer;
  readonly truncated: boolean;
}

export async function readBody(source: Readable, encoding: string | undefined, limit: ReadLimit): Promise<ReadBody> {
  const decoder = decoderFor(encoding);
  if (decoder === null) return await collect(source, limit);
  // The pipeline needs a first chunk: a response without a body may name an encoding, and an empty body is not valid gzip.
  const chunks: AsyncIterator<Buffer> = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done) return { body: Buffer.alloc(0), truncated: false };
  const compressed = cappedInput(first.value, { [Symbol.asyncIterator]: () => chunks }, limit.maxBytes);
  // Errors of either side end the decoder, where the reader sees them.
  return await collect(
    pipeline(compressed, decoder, () => {}),
    limit,
  );
}

async function collect(source: AsyncIterable<Buffer>, { maxBytes, onOversize }: ReadLimit): Promise<ReadBody> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    if (size <= maxBytes) {
      chunks.push(chunk);
      continue;
    }
    if (onOversize === 'fail') throw tooLarge(maxBytes);
    chunks.push(chunk.subarray(0, chunk.length - (size - maxBytes)));
    return { body: Buffer.concat(chunks), truncated: true };
  }
  return { body: Buffer.concat(chunks), truncated: false };
}

/** The encodings that the client accepts. */
export const ACCEPTED_ENCODINGS = 'gzip, br';

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

function decoderFor(encoding: string | undefined): Transform | null {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return null;
  const create = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (create !== undefined) return create();
  const shown = JSON.stringify(name.slice(0, 50));
  throw new TerminalError('RESPONSE_INVALID', `The response is encoded as ${shown}, which is not supported`);
}

/** The decompressor lags behind its input by some buffers, and incompressible data grows a little. */
const INPUT_SLACK_BYTES = 1024 * 1024;

async function* cappedInput(first: Buffer, rest: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let size = first.length;
  yield first;
  for await (const chunk of rest) {
    size += chunk.length;
    if (size > maxBytes + INPUT_SLACK_BYTES) throw tooLarge(maxBytes);
    yield chunk;
  }
}

export function tooLarge(maxBytes: number): TerminalError {
  return new TerminalError('RESPONSE_TOO_LARGE', `The response is larger than ${maxBytes} bytes`);
}
