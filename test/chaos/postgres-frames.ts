// PostgreSQL's wire protocol, as far as a fault needs it: where one message ends, which statement a batch of messages runs, and
// whether the server said that the statement worked. A batch is everything the client sends up to Sync (or one simple query); the
// server answers each batch with exactly one ReadyForQuery.

export interface Frame {
  /** The type byte as a character; '' for the startup message, which has no type byte. */
  readonly type: string;
  readonly bytes: Buffer;
}

const HEADER_BYTES = 5;

/** Splits a stream into messages. The first message of a client has no type byte. */
export function createFrameReader(options: { startsUntyped: boolean }): (chunk: Buffer) => Frame[] {
  let pending: Buffer = Buffer.alloc(0);
  let untyped = options.startsUntyped;
  return (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    const frames: Frame[] = [];
    for (;;) {
      const lengthAt = untyped ? 0 : 1;
      if (pending.length < lengthAt + 4) break;
      const total = lengthAt + pending.readUInt32BE(lengthAt);
      if (pending.length < total) break;
      const bytes = pending.subarray(0, total);
      frames.push({ type: untyped ? '' : String.fromCharCode(bytes[0]!), bytes });
      pending = pending.subarray(total);
      untyped = false;
    }
    return frames;
  };
}

export const endsBatch = ({ type }: Frame): boolean => type === 'S' || type === 'Q';
export const isReadyForQuery = ({ type }: Frame): boolean => type === 'Z';
export const isError = ({ type }: Frame): boolean => type === 'E';

/** Messages that belong to no batch: startup, password, termination. */
export const standsAlone = ({ type }: Frame): boolean => type === '' || type === 'p' || type === 'X';

/** The name of the prepared statement, or the first word of an unnamed one: `execution_commit`, `begin`. */
export function statementName(batch: readonly Frame[]): string {
  for (const { type, bytes } of batch) {
    if (type === 'Q') return firstWord(textAt(bytes, HEADER_BYTES));
    if (type === 'B') {
      const portal = textAt(bytes, HEADER_BYTES);
      const statement = textAt(bytes, HEADER_BYTES + Buffer.byteLength(portal) + 1);
      if (statement !== '') return statement;
    }
  }
  const parse = batch.find(({ type }) => type === 'P');
  return parse === undefined ? 'unnamed' : firstWord(textAt(parse.bytes, HEADER_BYTES + 1));
}

function textAt(bytes: Buffer, start: number): string {
  const end = bytes.indexOf(0, start);
  return bytes.toString('utf8', start, end < 0 ? bytes.length : end);
}

function firstWord(sql: string): string {
  return /\w+/.exec(sql)?.[0].toLowerCase() ?? 'unnamed';
}
