// Binary arrays carry exactly what PostgreSQL would read from text arrays, and refuse the same values.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/support/database.ts';
import { bool, type Column, encodeColumn, int2, int4, json, text, timestamp, uuid } from './array-parameter.ts';
import { type Database, openEngineDatabase } from './database.ts';
import type { Statement } from './statement.ts';

let testing: TestDatabase;
let database: Database;
beforeAll(async () => {
  testing = await testDatabase();
  const { connectionString } = testing;
  database = openEngineDatabase({
    connectionString,
    schema: 'public',
    maxConnections: 1,
    applicationName: 'test',
    queryTimeoutMs: 10_000,
  });
});
afterAll(async () => {
  await database.close();
  await testing.drop();
});

const unnest = (type: string): Statement => ({ name: '', text: `select x from unnest($1::${type}[]) x` });

async function roundTrip<Value>(type: string, column: Column<Value>, values: Value[]): Promise<unknown[]> {
  const rows = await database.run<{ x: unknown }>(unnest(type), [encodeColumn(column, values)]);
  return rows.map((row) => row.x);
}

const itself = <Value>(value: Value): Value => value;
const nullable = <Value>(values: fc.Arbitrary<Value>) => fc.array(fc.option(values), { maxLength: 20 });
const postgresText = fc
  .string({ unit: 'grapheme' })
  .filter((value) => !value.includes('\u0000') && value.isWellFormed());

describe('arrays in binary form', () => {
  it('binary arrays carry text', async () => {
    await fc.assert(
      fc.asyncProperty(nullable(postgresText), async (values) => {
        expect(await roundTrip('text', text(itself<string | null>), values)).toEqual(values);
      }),
      { numRuns: 60 },
    );
  });

  it('binary arrays carry JSON byte for byte, like an array of text', async () => {
    const document = fc.jsonValue({ noUnicodeString: false, maxDepth: 3 }).map((value) => JSON.stringify(value));
    const awkward = fc.constantFrom(
      '"\\u0000"',
      '"\\ud800"',
      '{"a" : 1,  "a":2}',
      '"\\"\\\\{}NULL"',
      '1e400',
      ' null ',
      '"🐴"',
    );
    await fc.assert(
      fc.asyncProperty(nullable(fc.oneof(document, awkward)), async (values) => {
        const carried = await roundTrip('json', json(itself<string | null>), values);
        expect(carried).toEqual(values);
        const asText = await database.run<{ x: string }>(unnest('json'), [values]);
        expect(asText.map((row) => row.x)).toEqual(carried);
      }),
      { numRuns: 60 },
    );
  });

  it('binary arrays carry numbers, booleans, ids and times', async () => {
    const time = fc.date({ min: new Date('0001-01-01'), max: new Date('+020000-01-01'), noInvalidDate: true });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer()),
        fc.array(fc.integer({ min: -32768, max: 32767 })),
        fc.array(fc.boolean()),
        nullable(fc.uuid()),
        nullable(time.map((date) => date.getTime())),
        async (integers, small, truths, ids, times) => {
          expect(await roundTrip('int', int4(itself<number>), integers)).toEqual(integers);
          expect(await roundTrip('smallint', int2(itself<number>), small)).toEqual(small);
          expect(await roundTrip('boolean', bool(itself<boolean>), truths)).toEqual(truths);
          expect(await roundTrip('uuid', uuid(itself<string | null>), ids)).toEqual(ids);
          expect(await roundTrip('timestamptz', timestamp(itself<number | null>), times)).toEqual(times);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('binary arrays carry texts larger than the reused buffer', async () => {
    const values = ['x'.repeat(6_000_000), 'ž🐴'.repeat(500_000), ''];
    expect(await roundTrip('text', text(itself<string>), values)).toEqual(values);
    expect(await roundTrip('text', text(itself<string>), ['short'])).toEqual(['short']);
  });

  const UUID = '01890a5d-ac96-774b-bcce-b302099a8057';
  it.each([
    UUID.slice(1),
    `${UUID}0`,
    UUID.replaceAll('-', ''),
    UUID.replace('a', 'g'),
    UUID.replace('a', 'á'),
    `0${UUID.replace('-', '')}`,
    '',
    'x'.repeat(36),
    '-'.repeat(36),
  ])('binary arrays refuse "%s" as an id', (id) => {
    expect(() => encodeColumn(uuid(itself<string>), [id])).toThrow(expect.objectContaining({ failure: 'data' }));
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 1e300])('binary arrays refuse %d as a time', (time) => {
    expect(() => encodeColumn(timestamp(itself<number>), [time])).toThrow(expect.objectContaining({ failure: 'data' }));
  });

  it('binary arrays refuse an integer that does not fit', () => {
    expect(() => encodeColumn(int4(itself<number>), [2 ** 31])).toThrow(expect.objectContaining({ failure: 'data' }));
    expect(() => encodeColumn(int2(itself<number>), [32_768])).toThrow(expect.objectContaining({ failure: 'data' }));
  });
});
