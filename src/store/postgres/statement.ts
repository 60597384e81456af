// The named statements of <aggregate>/*.sql. A file holds many, each after a line `-- name: execution_claim`; that name is also the
// prepared statement's, and it stays in the text, so that database monitoring shows it. Everything is read at import, so an
// unknown name fails at start, not at night. Before PostgreSQL sees a statement, these are expanded in it (never in comments):
//   @slot                             one parameter: $1, $2 … in the order of their first use
//   @{children: execution}            unnest($2::uuid[], $3::text[] …): rows as parameters, an array for each column of the list
//   @{arrays given: execution}        the same without the unnest around it
//   @{row event: event}               $2::uuid, $3::int …: one row as parameters
//   @children.id                      one column of such parameters
//   @{execution}  @{e.execution}      the columns of the list, e. before each; `except id, version` leaves some out
//   @{nulls execution}                a null for each
//   '@{constant reopening_key}'       a text that the code owns (CONSTANTS)
//   @{use fence}                      the text after `-- fragment: fence`, which several statements share

import { readdirSync, readFileSync } from 'node:fs';
import { REOPENING_KEY } from '../../core/decider/signal-type.ts';
import { SQL_TYPES } from './array-parameter.ts';
import { COLUMN_LISTS, type ColumnList } from './column-list.ts';

export interface Statement {
  readonly name: string;
  readonly text: string;
  /** The meaning of $1, $2 …, where the statement names them. */
  readonly parameters?: readonly Parameter[];
}

interface Parameter {
  readonly name: string;
  /** Its place in the column list, where rows are the parameter. */
  readonly column: number | null;
}

/** By number, or by name: rows are then given as one value per column of their list. */
export type Values = readonly unknown[] | Readonly<Record<string, unknown>>;

const FOLDER = new URL('./', import.meta.url);
const MARKER = /^-- (name|fragment): (\w+)$/m;
const ROWS = /@\{(row |arrays )?(\w+): (\w+)\}/g;
const LIST = /@\{(nulls )?(?:(\w+)\.)?(\w+)(?: except ([\w, ]+))?\}/g;
const CONSTANT = /@\{constant (\w+)\}/g;
const USE = /@\{use (\w+)\}/g;
const PARAMETER = /@(\w+)(?:\.(\w+))?/g;

/** Written into the statement: a parameter would change measured texts. */
const CONSTANTS: Readonly<Record<string, string>> = { reopening_key: REOPENING_KEY };

export const STATEMENTS: ReadonlyMap<string, Statement> = readStatements();

export function statement(name: string): Statement {
  const found = STATEMENTS.get(name);
  if (found === undefined) throw new Error(`There is no statement "${name}" in ${FOLDER.pathname}`);
  return found;
}

/** The values in parameter order. A missing name is a mistake; `undefined` is null. */
export function valuesOf({ name, parameters = [] }: Statement, values: Values): readonly unknown[] {
  if (Array.isArray(values)) return values;
  const named = values as Readonly<Record<string, unknown>>;
  return parameters.map((parameter) => {
    const value = named[parameter.name];
    if (value === undefined && !(parameter.name in named)) {
      throw new Error(`${name}: no value is given for @${parameter.name}`);
    }
    return parameter.column === null ? (value ?? null) : (value as readonly unknown[])[parameter.column];
  });
}

function readStatements(): Map<string, Statement> {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.sql'));
  const sources = files.map((file) => ({ file, source: readFileSync(new URL(file, FOLDER), 'utf8') }));
  const fragments = new Map<string, string>();
  for (const { source } of sources) {
    for (const { kind, name, body } of sectionsOf(source)) if (kind === 'fragment') fragments.set(name, body);
  }
  const statements = new Map<string, Statement>();
  for (const { file, source } of sources) {
    for (const parsed of parseStatements(source, fragments)) {
      if (statements.has(parsed.name)) throw new Error(`Statement "${parsed.name}" is defined twice (second: ${file})`);
      statements.set(parsed.name, parsed);
    }
  }
  return statements;
}

/** What stands before the first marker is the file's header. */
export function parseStatements(source: string, fragments: ReadonlyMap<string, string> = new Map()): Statement[] {
  return sectionsOf(source).flatMap(({ kind, name, body }) =>
    kind === 'name' ? [expandStatement(name, withFragments(name, body, fragments))] : [],
  );
}

function sectionsOf(source: string): { kind: string; name: string; body: string }[] {
  const pieces = source.split(MARKER).slice(1);
  const sections = [];
  for (let i = 0; i + 2 < pieces.length; i += 3) {
    const body = pieces[i + 2]!.trim().replace(/;$/, '');
    sections.push({ kind: pieces[i]!, name: pieces[i + 1]!, body });
  }
  return sections;
}

function withFragments(name: string, body: string, fragments: ReadonlyMap<string, string>): string {
  return outsideComments(body, (sql) =>
    sql.replace(USE, (_, fragment: string) => {
      const found = fragments.get(fragment);
      if (found === undefined) throw new Error(`${name} uses the fragment "${fragment}", which is nowhere`);
      return withFragments(name, found, fragments);
    }),
  );
}

function expandStatement(name: string, body: string): Statement {
  const groups = new Map([...body.matchAll(ROWS)].map(([, , group, list]) => [group!, listOf(name, list!)]));
  const parameters: Parameter[] = [];
  const numbers = new Map<string, number>();
  const numberOf = (group: string, column: string | undefined): string => {
    const key = column === undefined ? group : `${group}.${column}`;
    const known = numbers.get(key);
    if (known !== undefined) return `$${known}`;
    const place = column === undefined ? null : groups.get(group)?.findIndex((one) => one.name === column);
    if (place === undefined || place === -1) throw new Error(`${name}: @${key} is no column of a list`);
    numbers.set(key, parameters.push({ name: group, column: place }));
    return `$${parameters.length}`;
  };
  const text = outsideComments(body, (sql) =>
    sql
      .replace(CONSTANT, (_, constant: string) => constantOf(name, constant))
      .replace(LIST, (_, nulls, alias, list, except) => columnsOf(listOf(name, list), { nulls, alias, except }))
      .replace(ROWS, (_, form, group, list) => rowsOf(listOf(name, list), group, form))
      .replace(PARAMETER, (_, group: string, column: string | undefined) => numberOf(group, column)),
  );
  if (parameters.length > 0 && /\$\d/.test(outsideComments(body, (sql) => sql, ''))) {
    throw new Error(`${name} mixes parameters by name and by number`);
  }
  return { name, text: `-- name: ${name}\n${text}`, parameters };
}

function listOf(name: string, list: string): ColumnList {
  const found = COLUMN_LISTS[list];
  if (found === undefined) throw new Error(`${name}: there is no column list "${list}"`);
  return found;
}

function constantOf(name: string, constant: string): string {
  const found = CONSTANTS[constant];
  if (found === undefined) throw new Error(`${name}: there is no constant "${constant}"`);
  return found;
}

interface Listing {
  readonly nulls: string | undefined;
  readonly alias: string | undefined;
  readonly except: string | undefined;
}

function columnsOf(list: ColumnList, { nulls, alias, except }: Listing): string {
  const left = new Set(except?.split(', '));
  const before = alias === undefined ? '' : `${alias}.`;
  return list
    .filter(({ name }) => !left.has(name))
    .map((column) => {
      if (nulls !== undefined) return 'null';
      const read = column.read?.(`${before}${column.name}`) ?? `${before}${column.name}`;
      return column.alias === undefined ? read : `${read} as ${column.alias}`;
    })
    .join(', ');
}

function rowsOf(list: ColumnList, group: string, form: 'row ' | 'arrays ' | undefined): string {
  const dimension = form === 'row ' ? '' : '[]';
  const columns = list.map(({ name, type }) => `@${group}.${name}::${SQL_TYPES[type]}${dimension}`).join(', ');
  return form === undefined ? `unnest(${columns})` : columns;
}

/** A comment begins with -- and ends with its line; no literal of ours holds --. */
function outsideComments(text: string, change: (sql: string) => string, comments?: string): string {
  return text
    .split('\n')
    .map((line) => {
      const start = line.indexOf('--');
      return start === -1 ? change(line) : change(line.slice(0, start)) + (comments ?? line.slice(start));
    })
    .join('\n');
}
