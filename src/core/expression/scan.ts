// The little that is needed about JavaScript's text before parsing: where literals and braces begin and end. A `}}` inside a
// string does not close a template, and a hyphen inside a string is not part of a name.

/** The open brackets around the current position: `{` for a brace, `` ` `` for a template literal. */
export type Nesting = ('{' | '`')[];

export function inTemplateLiteral(nesting: Nesting): boolean {
  return nesting.at(-1) === '`';
}

/** The position after the next string, comment or character; `nesting` is updated on the way. */
export function advance(source: string, at: number, nesting: Nesting): number {
  if (inTemplateLiteral(nesting)) return advanceInTemplateLiteral(source, at, nesting);
  const character = source[at];
  if (character === "'" || character === '"') return endOfString(source, at, character);
  if (source.startsWith('/*', at)) return endOfComment(source, at);
  if (character === '`' || character === '{') nesting.push(character);
  if (character === '}') nesting.pop();
  return at + 1;
}

function advanceInTemplateLiteral(source: string, at: number, nesting: Nesting): number {
  if (source[at] === '\\') return at + 2;
  if (source.startsWith('${', at)) {
    nesting.push('{');
    return at + 2;
  }
  if (source[at] === '`') nesting.pop();
  return at + 1;
}

/** A string ends at its quote, or unclosed at the end of the line. */
function endOfString(source: string, start: number, quote: string): number {
  for (let at = start + 1; at < source.length; at++) {
    const character = source[at];
    if (character === '\\') at++;
    else if (character === quote || character === '\n') return at + 1;
  }
  return source.length;
}

function endOfComment(source: string, start: number): number {
  const end = source.indexOf('*/', start + 2);
  return end === -1 ? source.length : end + 2;
}
