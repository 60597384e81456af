// What a down-migration would destroy, found by looking rather than by reading its SQL: tables and columns that were there
// with rows in them before it, and are not there after it.

import type pg from 'pg';

export interface TableInventory {
  readonly table: string;
  readonly columns: readonly string[];
  readonly hasRows: boolean;
}

const TABLES = `
select c.relname as table, array_agg(a.attname::text order by a.attnum) as columns
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname <> 'schema_version'
group by c.relname order by c.relname`;

export async function takeInventory(client: pg.Client): Promise<TableInventory[]> {
  const tables = await client.query<{ table: string; columns: string[] }>(TABLES);
  const inventory: TableInventory[] = [];
  for (const { table, columns } of tables.rows) {
    const rows = await client.query<{ found: boolean }>(
      `select exists (select from ${client.escapeIdentifier(table)}) as found`,
    );
    inventory.push({ table, columns, hasRows: rows.rows[0]!.found });
  }
  return inventory;
}

export function findLosses(before: readonly TableInventory[], after: readonly TableInventory[]): string[] {
  return before
    .filter(({ hasRows }) => hasRows)
    .flatMap(({ table, columns }) => {
      const left = after.find((other) => other.table === table);
      if (left === undefined) return [table];
      return columns.filter((column) => !left.columns.includes(column)).map((column) => `${table}.${column}`);
    });
}
