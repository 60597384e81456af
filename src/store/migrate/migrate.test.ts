// Migrations: applied once by whoever is first, never half, and undone only when nothing is lost.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase, withClient } from '../../../test/support/database.ts';
import { migrateDown, migrateUp, migrationStatus } from './migrate.ts';
import { type Migration, parseMigration, readMigrations } from './migration-file.ts';
import { dumpSchema } from './schema-dump.ts';

let database: TestDatabase;
let connectionString: string;
beforeEach(async () => {
  database = await testDatabase({ empty: true });
  connectionString = database.connectionString;
});
afterEach(() => database.drop());

const query = async (text: string): Promise<Record<string, unknown>[]> =>
  withClient(connectionString, async (client) => (await client.query(text)).rows);

const FRUIT = [
  parseMigration('0001_fruit.sql', '-- up\ncreate table fruit (name text);\n-- down\ndrop table fruit;\n'),
  parseMigration(
    '0002_colour.sql',
    '-- up\nalter table fruit add colour text;\n-- down\nalter table fruit drop colour;\n',
  ),
];

describe('migrating up', () => {
  it('twenty concurrent calls of migrateUp apply each file once', async () => {
    const results = await Promise.all(Array.from({ length: 20 }, () => migrateUp({ connectionString })));
    const applied = results.flatMap((result) => result.applied).sort();
    expect(applied).toEqual(readMigrations().map(({ version, name }) => `${String(version).padStart(4, '0')}_${name}`));
    expect(await query('select count(*)::int as rows from schema_version')).toEqual([{ rows: applied.length }]);
  });

  it('migrating up gives the schema that is committed as schema.sql', async () => {
    await migrateUp({ connectionString });
    await expect(await dumpSchema({ connectionString })).toMatchFileSnapshot('../../../schema.sql');
  });

  it('migrations go into the schema that is given', async () => {
    await migrateUp({ connectionString, schema: 'Flow "1"', migrations: FRUIT });
    expect(await query(`select table_schema from information_schema.tables where table_name = 'fruit'`)).toEqual([
      { table_schema: 'Flow "1"' },
    ]);
    expect(await migrationStatus({ connectionString, migrations: FRUIT })).toMatchObject([
      { state: 'pending' },
      { state: 'pending' },
    ]);
  });

  it('a migration that fails leaves nothing behind, and the migrations before it stay', async () => {
    const broken = parseMigration('0002_broken.sql', '-- up\ncreate table half (x int);\nselect 1/0;\n-- down\n');
    await expect(migrateUp({ connectionString, migrations: [FRUIT[0]!, broken] })).rejects.toThrow('division by zero');
    expect(await query(`select to_regclass('fruit') is not null as fruit, to_regclass('half') as half`)).toEqual([
      { fruit: true, half: null },
    ]);
    expect(await migrateUp({ connectionString, migrations: FRUIT })).toEqual({ applied: ['0002_colour'] });
  });

  it('a file that was edited after it was applied is refused', async () => {
    await migrateUp({ connectionString, migrations: FRUIT });
    const edited: Migration[] = [{ ...FRUIT[0]!, checksum: 'other' }, FRUIT[1]!];
    await expect(migrateUp({ connectionString, migrations: edited })).rejects.toThrow(
      '0001_fruit was edited after it was applied',
    );
    expect(await migrationStatus({ connectionString, migrations: edited })).toMatchObject([
      { state: 'changed' },
      { state: 'applied' },
    ]);
  });

  it('a database that is newer than the program is left unchanged', async () => {
    await migrateUp({ connectionString, migrations: FRUIT });
    const older = FRUIT.slice(0, 1);
    expect(await migrateUp({ connectionString, migrations: older })).toEqual({ applied: [] });
    expect(await migrationStatus({ connectionString, migrations: older })).toMatchObject([
      { version: 1, state: 'applied' },
      { version: 2, name: 'colour', state: 'unknown' },
    ]);
    await expect(migrateDown({ connectionString, migrations: older, to: 0 })).rejects.toThrow(
      '0002_colour must be undone by',
    );
  });
});

describe('migrating down', () => {
  it('migrating down removes everything, and can be repeated', async () => {
    await migrateUp({ connectionString });
    await migrateDown({ connectionString, to: 0 });
    expect(
      await query(`select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'v')`),
    ).toEqual([{ relname: 'schema_version' }]);
    expect((await migrateUp({ connectionString })).applied).toHaveLength(readMigrations().length);
  });

  it('migrating down stops at the version that is given', async () => {
    await migrateUp({ connectionString, migrations: FRUIT });
    expect(await migrateDown({ connectionString, migrations: FRUIT, to: 1 })).toEqual({ undone: ['0002_colour'] });
    expect(await migrationStatus({ connectionString, migrations: FRUIT })).toMatchObject([
      { state: 'applied' },
      { state: 'pending' },
    ]);
  });

  it('migrating down refuses to drop a column or a table with rows, unless forced', async () => {
    await migrateUp({ connectionString, migrations: FRUIT });
    await query(`insert into fruit values ('plum', 'blue')`);
    const down = (force: boolean) => migrateDown({ connectionString, migrations: FRUIT, to: 0, force });
    await expect(down(false)).rejects.toThrow(
      'Undoing 0002_colour would lose data in fruit.colour. Nothing was changed.',
    );
    expect(await query('select * from fruit')).toEqual([{ name: 'plum', colour: 'blue' }]);
    expect(await down(true)).toEqual({ undone: ['0002_colour', '0001_fruit'] });
  });

  it('a refusal names the migrations that were undone before it', async () => {
    const basket = '-- up\ncreate table basket (name text);\n-- down\ndrop table basket;\n';
    const migrations = [FRUIT[0]!, parseMigration('0002_basket.sql', basket)];
    await migrateUp({ connectionString, migrations });
    await query(`insert into fruit values ('plum')`);
    await expect(migrateDown({ connectionString, migrations, to: 0 })).rejects.toThrow(
      'Undoing 0001_fruit would lose data in fruit. Undone before it: 0002_basket; no more than that.',
    );
    expect(await migrationStatus({ connectionString, migrations })).toMatchObject([
      { state: 'applied' },
      { state: 'pending' },
    ]);
  });

  it('migrating down refuses to drop the engine while it has work', async () => {
    await migrateUp({ connectionString });
    await query(`insert into runners (name) values ('r')`);
    await expect(migrateDown({ connectionString, to: 0 })).rejects.toThrow('would lose data in runners');
  });
});

describe('migration files', () => {
  it.each([
    ['1_short.sql', '-- up\n-- down\n', 'must be called NNNN_name.sql'],
    ['0001_no_down.sql', '-- up\nselect 1;\n', 'needs a line "-- up" and, after it, a line "-- down"'],
    ['0001_turned.sql', '-- down\nselect 1;\n-- up\n', 'needs a line "-- up" and, after it, a line "-- down"'],
  ])('the migration file %s is refused', (file, source, message) => {
    expect(() => parseMigration(file, source)).toThrow(message);
  });

  it('a migration file has the same checksum with any line ends', () => {
    const unix = '-- up\nselect 1;\n-- down\n';
    expect(parseMigration('0001_a.sql', unix.replaceAll('\n', '\r\n')).checksum).toBe(
      parseMigration('0001_a.sql', unix).checksum,
    );
  });
});
