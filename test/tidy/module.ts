// One TypeScript file, parsed. Node strips the types in place, so every position in the remaining JavaScript is the
// position in the source, and acorn does the parsing. What was stripped (type-only imports, casts) is not lost: the
// erased spans hold nothing but type syntax, and acorn's tokenizer reads those by themselves.

import { stripTypeScriptTypes } from 'node:module';
import { type AnyNode, type Comment, type Program, parse, type Token, tokenizer } from 'acorn';
import { walk } from './walk.ts';

export interface Module {
  readonly path: string;
  readonly program: Program;
  readonly comments: readonly Remark[];
  readonly imports: readonly Import[];
  /** Tokens of type syntax that Node removes before it runs the file, with a line each; one list per erased span. */
  readonly erased: readonly (readonly Lexeme[])[];
}

export interface Import {
  /** Undefined for `import(expression)`: nobody can tell what it loads. */
  readonly specifier: string | undefined;
  readonly line: number;
  /** Type-only imports count for the layers but not for cycles: they are gone at run time. */
  readonly kind: 'runtime' | 'type';
}

interface Lexeme {
  readonly text: string;
  /** What stands between the quotes of a string literal. */
  readonly string: string | undefined;
  readonly line: number;
}

interface Remark {
  readonly text: string;
  readonly line: number;
}

export function parseModule(path: string, source: string): Module {
  const stripped = stripTypeScriptTypes(source, { mode: 'strip' });
  const comments: Comment[] = [];
  const program = parse(stripped, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    locations: true,
    onComment: comments,
  });
  const lineOf = lineIndex(source);
  const remarks = comments.map(({ value, start }) => ({ text: value, line: lineOf(start) }));
  const erased = erasedSpans(source, stripped).map((span) => readSpan(source, span, lineOf, remarks));
  return { path, program, comments: remarks, imports: [...runtimeImports(program), ...typeImports(erased)], erased };
}

const IMPORTED = /^(?:import|export)\b(?: (type) )?[^;'"]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm;

/** A file with JSX, which neither Node nor acorn reads: only its imports are known, and so only rules about imports hold. */
export function readImports(path: string, source: string): Module {
  const lineOf = lineIndex(source);
  const imports = [...source.matchAll(IMPORTED)].map((match): Import => {
    const [, type, from, bare, loaded] = match;
    return { specifier: from ?? bare ?? loaded, line: lineOf(match.index), kind: type === 'type' ? 'type' : 'runtime' };
  });
  const program = parse('', { ecmaVersion: 'latest', sourceType: 'module', locations: true });
  return { path, program, comments: [], imports, erased: [] };
}

export function lineOfNode(node: AnyNode): number {
  return node.loc?.start.line ?? 1;
}

type Span = readonly [start: number, end: number];

/** Where the two texts differ, neighbours with only white space between them joined into one span. */
function erasedSpans(source: string, stripped: string): Span[] {
  const spans: [number, number][] = [];
  for (let index = 0; index < source.length; index += 1) {
    if (source[index] === stripped[index]) continue;
    const last = spans.at(-1);
    if (last !== undefined && source.slice(last[1], index).trim() === '') last[1] = index + 1;
    else spans.push([index, index + 1]);
  }
  return spans;
}

function readSpan(source: string, [start, end]: Span, lineOf: (at: number) => number, remarks: Remark[]): Lexeme[] {
  const onComment = (_block: boolean, text: string, at: number): void => {
    remarks.push({ text, line: lineOf(start + at) });
  };
  const tokens = tokenizer(source.slice(start, end), { ecmaVersion: 'latest', sourceType: 'module', onComment });
  return Array.from(tokens, (token: Token) => {
    const text = source.slice(start + token.start, start + token.end);
    const string = token.type.label === 'string' ? text.slice(1, -1) : undefined;
    return { text, string, line: lineOf(start + token.start) };
  });
}

function runtimeImports(program: Program): Import[] {
  const found: Import[] = [];
  walk(program, (node) => {
    switch (node.type) {
      case 'ImportDeclaration':
      case 'ExportAllDeclaration':
      case 'ExportNamedDeclaration':
      case 'ImportExpression': {
        if (!node.source) return;
        const specifier = node.source.type === 'Literal' ? String(node.source.value) : undefined;
        found.push({ specifier, line: lineOfNode(node), kind: 'runtime' });
      }
    }
  });
  return found;
}

/** In type syntax a string after `from` or `import (` is a module, and nothing else is. */
function typeImports(erased: readonly (readonly Lexeme[])[]): Import[] {
  return erased.flatMap((span) =>
    span.flatMap((lexeme, index): Import[] => {
      if (lexeme.string === undefined) return [];
      const before = span[index - 1]?.text;
      const imports = before === 'from' || (before === '(' && span[index - 2]?.text === 'import');
      return imports ? [{ specifier: lexeme.string, line: lexeme.line, kind: 'type' }] : [];
    }),
  );
}

function lineIndex(source: string): (at: number) => number {
  const starts = [0];
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1);
  return (at) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= at) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}
