// The pipeline dialect writes names with hyphens as plain dotted paths: `tasks.payment-result.body.id`,
// `wait.payment-result.url`, `trigger.headers.x-request-id`. There the hyphen wins over minus. This turns such a name into
// bracket access before the text is parsed, and keeps the way back, so that problems point at what the author wrote.

import { advance, inTemplateLiteral, type Nesting } from './scan.ts';

export interface RewrittenSource {
  readonly text: string;
  /** From an offset in `text` to the offset in the original. */
  readonly originalOffset: (offset: number) => number;
}

const NODE = /(\b(?:tasks|wait)\s*)(\??\.)\s*([\w-]+)/y;
const NODE_IN_BRACKETS = /\btasks\s*(?:\?\.)?\s*\[\s*(?:'[^'\\]*'|"[^"\\]*")\s*\]/y;
const TRIGGER = /\btrigger\b/y;
const HEADER = /(\s*\??\.\s*headers\s*)(\??\.)\s*([\w-]+)/y;
const WORD = /[\w$]+/y;
const PLAIN_NAME = /^[A-Za-z_]\w*$/;

export function rewritePipelinePaths(source: string): RewrittenSource {
  const nesting: Nesting = [];
  const edits: Edit[] = [];
  let at = 0;
  while (at < source.length) {
    const word = inTemplateLiteral(nesting) ? null : matchAt(WORD, source, at);
    if (!word) at = advance(source, at, nesting);
    else at = isMemberName(source, at) ? endOf(word) : endOfPath(source, word, edits);
  }
  return applyEdits(source, edits);
}

/** In `x.tasks` the word is a member's name, not the scope's; in `...tasks` it is the scope's. */
function isMemberName(source: string, at: number): boolean {
  const before = source.slice(0, at).trimEnd();
  return before.endsWith('.') && !before.endsWith('...');
}

/** The end of the path that begins with this word, or of the word when it is none of ours. */
function endOfPath(source: string, word: RegExpExecArray, edits: Edit[]): number {
  const node = matchAt(NODE, source, word.index);
  if (node) {
    addEdit(edits, node);
    return endOfHeader(source, endOf(node), edits);
  }
  const start = matchAt(NODE_IN_BRACKETS, source, word.index) ?? matchAt(TRIGGER, source, word.index);
  return start ? endOfHeader(source, endOf(start), edits) : endOf(word);
}

function endOfHeader(source: string, at: number, edits: Edit[]): number {
  const header = matchAt(HEADER, source, at);
  if (!header) return at;
  addEdit(edits, header);
  return endOf(header);
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

/** A match is what stands before the dot, the dot, and (white space aside) the name. */
function addEdit(edits: Edit[], match: RegExpExecArray): void {
  const [, before, dot, name] = match as unknown as [string, string, string, string];
  if (PLAIN_NAME.test(name)) return;
  const brackets = dot === '.' ? `['${name}']` : `?.['${name}']`;
  edits.push({ start: match.index + before.length, end: endOf(match), text: brackets });
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
