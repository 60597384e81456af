// The named statements of sql/*.sql. A file holds many, each after a line `-- name: execution_claim`; that name is also the
// prepared statement's, and it stays in the text, so that database monitoring shows it. Everything is read at import, so an
// unknown name fails at start, not at night.

import { readdirSync, readFileSync } from 'node:fs';

export interface Statement {
  readonly name: string;
  readonly text: string;
}

const FOLDER = new URL('./sql/', import.meta.url);
const MARKER = /^-- name: (\w+)$/m;

export const STATEMENTS: ReadonlyMap<string, Statement> = readStatements();

export function statement(name: string): Statement {
  const found = STATEMENTS.get(name);
  if (found === undefined) throw new Error(`There is no statement "${name}" in ${FOLDER.pathname}`);
  return found;
}

function readStatements(): Map<string, Statement> {
  const statements = new Map<string, Statement>();
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.sql'))) {
    for (const parsed of parseStatements(readFileSync(new URL(file, FOLDER), 'utf8'))) {
      if (statements.has(parsed.name)) throw new Error(`Statement "${parsed.name}" is defined twice (second: ${file})`);
      statements.set(parsed.name, parsed);
    }
  }
  return statements;
}

/** What stands before the first marker is the file's header. */
export function parseStatements(source: string): Statement[] {
  const pieces = source.split(MARKER).slice(1);
  const statements: Statement[] = [];
  for (let i = 0; i + 1 < pieces.length; i += 2) {
    const name = pieces[i]!;
    const body = pieces[i + 1]!.trim().replace(/;$/, '');
    statements.push({ name, text: `-- name: ${name}\n${body}` });
  }
  return statements;
}
