// The files in migrations/: NNNN_name.sql, with the change after a line `-- up` and its reversal after a line `-- down`. An
// applied file is never edited: its checksum is compared with the database's.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly up: string;
  readonly down: string;
  readonly checksum: string;
}

const FOLDER = new URL('../../../migrations/', import.meta.url);
const FILE_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/;

export function readMigrations(folder: URL = FOLDER): Migration[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  const migrations = files.sort().map((file) => parseMigration(file, readFileSync(new URL(file, folder), 'utf8')));
  migrations.forEach((migration, i) => {
    if (migration.version !== i + 1) {
      throw new Error(
        `Migrations are numbered without gaps: expected ${i + 1}, found ${migration.version} (${files[i]})`,
      );
    }
  });
  return migrations;
}

export function parseMigration(file: string, source: string): Migration {
  const named = FILE_NAME.exec(file);
  if (named === null) throw new Error(`Migration "${file}" must be called NNNN_name.sql`);
  const [, up, down] = source.split(/^-- (?:up|down)$/m);
  if (up === undefined || down === undefined || source.search(/^-- up$/m) > source.search(/^-- down$/m)) {
    throw new Error(`Migration "${file}" needs a line "-- up" and, after it, a line "-- down"`);
  }
  const checksum = createHash('sha256').update(source.replaceAll('\r\n', '\n')).digest('hex');
  return { version: Number(named[1]), name: named[2]!, up, down, checksum };
}
