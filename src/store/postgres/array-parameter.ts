// Columns of rows as binary PostgreSQL arrays, for `unnest($2::uuid[], $3::json[], …)`. Text arrays must be quoted element by
// element here and parsed there (1 MB of json blocked the loop for 41 ms; binary takes 7.5), and json arrives byte for byte (I15,
// I18). A value that its type cannot hold is a data error: bisected, not retried.

import { StoreError } from '../store-error.ts';

/** One column of an `unnest`: its element type, and where its value comes from. */
export interface Column<Row> {
  readonly type: ElementType;
  readonly value: (row: Row) => Value;
}

type Value = string | number | boolean | null;
export type ElementType = keyof typeof ELEMENTS;

/** The object ids of the element types, which the binary form names. */
const ELEMENTS = {
  bool: 16,
  int8: 20,
  int2: 21,
  int4: 23,
  text: 25,
  json: 114,
  timestamptz: 1184,
  uuid: 2950,
} as const;

/** Their names in SQL. */
export const SQL_TYPES: Readonly<Record<ElementType, string>> = {
  bool: 'boolean',
  int8: 'bigint',
  int2: 'smallint',
  int4: 'int',
  text: 'text',
  json: 'json',
  timestamptz: 'timestamptz',
  uuid: 'uuid',
};

const FIXED_BYTES = { bool: 1, int8: 8, int2: 2, int4: 4, timestamptz: 8, uuid: 16 } as const;
const HEADER_BYTES = 20;
const MAX_BYTES_PER_CHARACTER = 3;
const KEPT_SCRATCH_BYTES = 4 * 1024 * 1024;
/** 2000-01-01, where PostgreSQL's timestamps start. */
const TIMESTAMP_ZERO_MS = 946_684_800_000;

const EMPTY = Object.fromEntries(
  Object.keys(ELEMENTS).map((type) => [type, emptyArray(type as ElementType)]),
) as Record<ElementType, Buffer>;

export const uuid = <Row>(value: (row: Row) => string | null): Column<Row> => ({ type: 'uuid', value });
export const text = <Row>(value: (row: Row) => string | null): Column<Row> => ({ type: 'text', value });
export const json = <Row>(value: (row: Row) => string | null): Column<Row> => ({ type: 'json', value });
export const int2 = <Row>(value: (row: Row) => number): Column<Row> => ({ type: 'int2', value });
export const int4 = <Row>(value: (row: Row) => number | null): Column<Row> => ({ type: 'int4', value });
export const int8 = <Row>(value: (row: Row) => number | null): Column<Row> => ({ type: 'int8', value });
export const bool = <Row>(value: (row: Row) => boolean): Column<Row> => ({ type: 'bool', value });
export const timestamp = <Row>(value: (row: Row) => number | null): Column<Row> => ({ type: 'timestamptz', value });

/** One array for each column, all of the same length. */
export function encodeColumns<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Buffer[] {
  return columns.map((column) => encodeColumn(column, rows));
}

/** One row as separate parameters. A time goes in binary form, which keeps its microseconds. */
export function encodeRow<Row>(columns: readonly Column<Row>[], row: Row): (Value | Buffer)[] {
  return columns.map(({ type, value }) => {
    const item = value(row);
    if (type !== 'timestamptz' || item === null) return item;
    const buffer = Buffer.allocUnsafe(FIXED_BYTES.timestamptz);
    fitting(type, () => writeTimestamp(buffer, 0, item as number));
    return buffer;
  });
}

export function encodeColumn<Row>({ type, value }: Column<Row>, rows: readonly Row[]): Buffer {
  if (rows.length === 0) return EMPTY[type];
  return fitting(type, () =>
    type === 'text' || type === 'json' ? encodeTexts(type, rows, value) : encodeFixed(type, rows, value),
  );
}

function fitting<Result>(type: ElementType, encode: () => Result): Result {
  try {
    return encode();
  } catch (error) {
    if (error instanceof RangeError) throw new StoreError('data', `${type}: ${error.message}`, { cause: error });
    throw error;
  }
}

const itself = (id: string): string => id;
export const uuidArray = (ids: readonly string[]): Buffer => encodeColumn(uuid(itself), ids);

function encodeFixed<Row>(type: keyof typeof FIXED_BYTES, rows: readonly Row[], value: (row: Row) => Value): Buffer {
  const size = FIXED_BYTES[type];
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + rows.length * (4 + size));
  let offset = writeHeader(buffer, type, rows.length);
  for (const row of rows) {
    const item = value(row);
    if (item === null) {
      offset = buffer.writeInt32BE(-1, offset);
      continue;
    }
    offset = buffer.writeInt32BE(size, offset);
    offset = WRITERS[type](buffer, offset, item as never);
  }
  return offset === buffer.length ? buffer : buffer.subarray(0, offset);
}

const WRITERS = {
  bool: (buffer: Buffer, offset: number, value: boolean) => buffer.writeUInt8(value ? 1 : 0, offset),
  int8: (buffer: Buffer, offset: number, value: number) => buffer.writeBigInt64BE(BigInt(value), offset),
  int2: (buffer: Buffer, offset: number, value: number) => buffer.writeInt16BE(value, offset),
  int4: (buffer: Buffer, offset: number, value: number) => buffer.writeInt32BE(value, offset),
  timestamptz: writeTimestamp,
  uuid: writeUuid,
};

function writeTimestamp(buffer: Buffer, offset: number, milliseconds: number): number {
  const microseconds = Math.round((milliseconds - TIMESTAMP_ZERO_MS) * 1000);
  if (!Number.isFinite(microseconds)) throw new RangeError(`${milliseconds} is not a time`);
  // After the year 2285 a double is no longer exact to the microsecond; BigInt is slow, but handles it.
  if (!Number.isSafeInteger(microseconds)) {
    return buffer.writeBigInt64BE(BigInt(Math.round(milliseconds) - TIMESTAMP_ZERO_MS) * 1000n, offset);
  }
  const high = Math.floor(microseconds / 0x1_0000_0000);
  buffer.writeInt32BE(high, offset);
  return buffer.writeUInt32BE(microseconds - high * 0x1_0000_0000, offset + 4);
}

/** The value of each hexadecimal digit by its character code; 255 for everything else. */
const HEX = Uint8Array.from({ length: 128 }, (_, code) => {
  const digit = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(digit) ? 255 : digit;
});

function writeUuid(buffer: Buffer, offset: number, id: string): number {
  let at = offset;
  let bad = id.length === 36 ? 0 : 255;
  for (let i = 0; i < id.length; i += 2) {
    if (id.charCodeAt(i) === 45 && (i === 8 || i === 13 || i === 18 || i === 23)) i++;
    const high = HEX[id.charCodeAt(i)] ?? 255;
    const low = HEX[id.charCodeAt(i + 1)] ?? 255;
    bad |= high | low;
    buffer[at++] = (high << 4) | low;
  }
  if (bad > 15 || at !== offset + 16) throw new RangeError(`"${id}" is not a uuid`);
  return at;
}

let scratch = Buffer.allocUnsafe(64 * 1024);

/** Written into a buffer that is certainly large enough, then copied out: one pass over each string instead of two. */
function encodeTexts<Row>(type: 'text' | 'json', rows: readonly Row[], value: (row: Row) => Value): Buffer {
  let bytes = HEADER_BYTES;
  for (const row of rows) bytes += 4 + ((value(row) as string | null)?.length ?? 0) * MAX_BYTES_PER_CHARACTER;
  const buffer = bytes <= scratch.length ? scratch : Buffer.allocUnsafe(bytes);
  if (bytes <= KEPT_SCRATCH_BYTES) scratch = buffer;

  let offset = writeHeader(buffer, type, rows.length);
  for (const row of rows) {
    const item = value(row) as string | null;
    if (item === null) {
      offset = buffer.writeInt32BE(-1, offset);
      continue;
    }
    const written = buffer.write(item, offset + 4);
    buffer.writeInt32BE(written, offset);
    offset += 4 + written;
  }
  return Buffer.from(buffer.subarray(0, offset));
}

function writeHeader(buffer: Buffer, type: ElementType, length: number): number {
  buffer.writeInt32BE(1, 0); // dimensions
  buffer.writeInt32BE(1, 4); // there may be nulls
  buffer.writeInt32BE(ELEMENTS[type], 8);
  buffer.writeInt32BE(length, 12);
  return buffer.writeInt32BE(1, 16); // lower bound
}

function emptyArray(type: ElementType): Buffer {
  const buffer = Buffer.alloc(12);
  buffer.writeInt32BE(ELEMENTS[type], 8);
  return buffer;
}
