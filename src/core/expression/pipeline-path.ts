// The pipeline dialect writes paths with dots alone: `tasks.payment-result.body.order-id`, `trigger.headers.X-Request-Id`,
// `tasks.list.body.items.0`. This turns what JavaScript would not read so into bracket access before the text is parsed, and
// keeps the way back, so that problems point at what the author wrote.
// In the name of a task or a header a hyphen always wins over minus. In any other name it wins (`a.x-y`, `a.line-1`) unless what
// follows is a name that means something by itself (`a.x-tasks.b.y`): a minus has spaces around it.

import { advance, inTemplateLiteral, type Nesting } from './scan.ts';

export interface RewrittenSource {
  readonly text: string;
  /** From an offset in `text` to the offset in the original. */
  readonly originalOffset: (offset: number) => number;
}

const ROOTS = new Set(['tasks', 'wait', 'trigger']);
const WORD = /[\w$]+/y;
const DOT = /\s*(?:(\??\.)\s*(?=[A-Za-z_$-])|(\.)(?=\d))/y;
const BRACKETS = /\s*(?:\?\.)?\s*\[\s*(?:'([^'\\]*)'|"([^"\\]*)"|\d+)\s*\]/y;
const NAME = /[\w$]+(?:-[\w$]+)*/y;
const BEGINS_WITH_DIGIT = /^\d/;
const NAME_WITH_HYPHENS = /[\w-]+/y;
const PLAIN_NAME = /^[A-Za-z_$][\w$]*$/;
const INDEX = /^(?:0|[1-9]\d{0,8})$/;
const ARROW = '=>';
const UPPER_CASE_HEADER = /\bheaders\s*\??\.\s*[\w-]*[A-Z]/;

/** `known`: names that mean something by themselves, which a minus may stand before. */
export function rewritePipelinePaths(source: string, known: ReadonlySet<string>): RewrittenSource {
  const nesting: Nesting = [];
  const edits: Edit[] = [];
  // The parameters of an arrow function are names of their own.
  const mayBeMinus = (word: string) => !BEGINS_WITH_DIGIT.test(word) && (source.includes(ARROW) || known.has(word));
  let at = 0;
  while (at < source.length) {
    const word = inTemplateLiteral(nesting) ? null : matchAt(WORD, source, at);
    if (!word) at = advance(source, at, nesting);
    else if (!ROOTS.has(word[0]) || isMemberName(source, at)) at = endOf(word);
    else at = rewritePath(source, word, mayBeMinus, edits);
  }
  return applyEdits(source, edits);
}

/** Header names are the same in any case, and kept in lower case: such a path is not plain. */
export function namesHeaderInUpperCase(source: string): boolean {
  return UPPER_CASE_HEADER.test(source);
}

/** In `x.tasks` the word is a member's name, not the scope's; in `...tasks` it is the scope's. */
function isMemberName(source: string, at: number): boolean {
  const before = source.slice(0, at).trimEnd();
  return before.endsWith('.') && !before.endsWith('...');
}

/** Answers where the path that begins with this root ends. */
function rewritePath(
  source: string,
  root: RegExpExecArray,
  mayBeMinus: (word: string) => boolean,
  edits: Edit[],
): number {
  const path = [root[0]];
  let at = endOf(root);
  for (;;) {
    const brackets = matchAt(BRACKETS, source, at);
    const dot = brackets ? null : matchAt(DOT, source, at);
    if (brackets) {
      path.push(brackets[1] ?? brackets[2] ?? '');
      at = endOf(brackets);
    } else if (dot) {
      const name = nameAt(source, endOf(dot), path, mayBeMinus);
      const key = isOfHeaders(path) ? name.toLowerCase() : name;
      const access = bracketsFor(key, name, { isOptional: dot[1] === '?.', isTask: path.length === 1 });
      at = endOf(dot) + name.length;
      if (access !== null) edits.push({ start: dot.index, end: at, text: access });
      path.push(key);
    } else {
      return at;
    }
  }
}

function nameAt(source: string, at: number, path: readonly string[], mayBeMinus: (word: string) => boolean): string {
  const isOfTask = path.length === 1 && path[0] !== 'trigger';
  if (isOfTask || isOfHeaders(path)) return matchAt(NAME_WITH_HYPHENS, source, at)?.[0] ?? '';
  const [first, ...rest] = (matchAt(NAME, source, at)?.[0] ?? '').split('-') as [string, ...string[]];
  const minus = rest.findIndex(mayBeMinus);
  return [first, ...(minus === -1 ? rest : rest.slice(0, minus))].join('-');
}

/** `trigger.headers`, `tasks.<name>.headers`. */
function isOfHeaders(path: readonly string[]): boolean {
  return path.at(-1) === 'headers' && path.length === (path[0] === 'trigger' ? 2 : 3);
}

/** null: JavaScript reads the name as it is written. */
function bracketsFor(
  key: string,
  written: string,
  { isOptional, isTask }: { isOptional: boolean; isTask: boolean },
): string | null {
  if (key === written && (key === '' || PLAIN_NAME.test(key))) return null;
  const inBrackets = INDEX.test(key) && !isTask ? `[${key}]` : `['${key}']`;
  return isOptional ? `?.${inBrackets}` : inBrackets;
}

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

function endOf(match: RegExpExecArray): number {
  return match.index + match[0].length;
}

/** Replaces source[start, end) by `text`. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function applyEdits(source: string, edits: readonly Edit[]): RewrittenSource {
  let text = '';
  let copied = 0;
  const shifts: { from: number; to: number; original: Edit }[] = [];
  for (const edit of edits) {
    text += source.slice(copied, edit.start);
    shifts.push({ from: text.length, to: text.length + edit.text.length, original: edit });
    text += edit.text;
    copied = edit.end;
  }
  text += source.slice(copied);
  const originalOffset = (offset: number): number => {
    const last = shifts.findLast(({ from }) => from <= offset);
    if (!last) return offset;
    return offset < last.to ? last.original.start : last.original.end + (offset - last.to);
  };
  return { text, originalOffset };
}
