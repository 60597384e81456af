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

describe('up', () => {
  it('is done once when twenty start at the same time', async () => {
    const results = await Promise.all(Array.from({ length: 20 }, () => migrateUp({ connectionString })));
    const applied = results.flatMap((result) => result.applied).sort();
    expect(applied).toEqual(readMigrations().map(({ version, name }) => `${String(version).padStart(4, '0')}_${name}`));
    expect(await query('select count(*)::int as rows from schema_version')).toEqual([{ rows: applied.length }]);
  });

  it('gives the schema that is committed as schema.sql', async () => {
    await migrateUp({ connectionString });
    await expect(await dumpSchema({ connectionString })).toMatchFileSnapshot('../../../schema.sql');
  });

  it('goes into the schema it is given', async () => {
    await migrateUp({ connectionString, schema: 'Flow "1"', migrations: FRUIT });
    expect(await query(`select table_schema from information_schema.tables where table_name = 'fruit'`)).toEqual([
      { table_schema: 'Flow "1"' },
    ]);
    expect(await migrationStatus({ connectionString, migrations: FRUIT })).toMatchObject([
      { state: 'pending' },
      { state: 'pending' },
    ]);
  });

  it('leaves nothing of a migration that fails, and keeps those before it', async () => {
    const broken = parseMigration('0002_broken.sql', '-- up\ncreate table half (x int);\nselect 1/0;\n-- down\n');
    await expect(migrateUp({ connectionString, migrations: [FRUIT[0]!, broken] })).rejects.toThrow('division by zero');
    expect(await query(`select to_regclass('fruit') is not null as fruit, to_regclass('half') as half`)).toEqual([
      { fruit: true, half: null },
    ]);
    expect(await migrateUp({ connectionString, migrations: FRUIT })).toEqual({ applied: ['0002_colour'] });
  });

  it('refuses a file that was edited after it was applied', async () => {
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

  it('leaves a database alone that is newer than the program', async () => {
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

describe('down', () => {
  it('takes everything away again and can be repeated', async () => {
    await migrateUp({ connectionString });
    await migrateDown({ connectionString, to: 0 });
    expect(
      await query(`select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'v')`),
    ).toEqual([{ relname: 'schema_version' }]);
    expect((await migrateUp({ connectionString })).applied).toHaveLength(readMigrations().length);
  });

  it('stops at the version it is given', async () => {
    await migrateUp({ connectionString, migrations: FRUIT });
    expect(await migrateDown({ connectionString, migrations: FRUIT, to: 1 })).toEqual({ undone: ['0002_colour'] });
    expect(await migrationStatus({ connectionString, migrations: FRUIT })).toMatchObject([
      { state: 'applied' },
      { state: 'pending' },
    ]);
  });

  it('refuses to lose a column or a table with rows in it, unless it is forced', async () => {
    await migrateUp({ connectionString, migrations: FRUIT });
    await query(`insert into fruit values ('plum', 'blue')`);
    const down = (force: boolean) => migrateDown({ connectionString, migrations: FRUIT, to: 0, force });
    await expect(down(false)).rejects.toThrow(
      'Undoing 0002_colour would lose data in fruit.colour. Nothing was changed.',
    );
    expect(await query('select * from fruit')).toEqual([{ name: 'plum', colour: 'blue' }]);
    expect(await down(true)).toEqual({ undone: ['0002_colour', '0001_fruit'] });
  });

  it('says what it has undone before it refuses', async () => {
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

  it('refuses to drop the engine while it has work', async () => {
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
  ])('%s is refused', (file, source, message) => {
    expect(() => parseMigration(file, source)).toThrow(message);
  });

  it('have the same checksum whatever the line ends', () => {
    const unix = '-- up\nselect 1;\n-- down\n';
    expect(parseMigration('0001_a.sql', unix.replaceAll('\n', '\r\n')).checksum).toBe(
      parseMigration('0001_a.sql', unix).checksum,
    );
  });
});
