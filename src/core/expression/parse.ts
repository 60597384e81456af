// From source text to our tree. acorn parses, convert.ts admits; nothing is ever evaluated here. Runs when a workflow is
// published, never while one executes.

import { type Expression, type Options, parseExpressionAt, tokenizer } from 'acorn';
import { type Expr, heightOf } from './ast.ts';
import { NAMESPACES } from './conversion.ts';
import { convertExpression, MAX_NESTING, NESTED_TOO_DEEP } from './convert.ts';
import { FUNCTIONS } from './functions.ts';
import { namesHeaderInUpperCase, type RewrittenSource, rewritePipelinePaths } from './pipeline-path.ts';
import { readPlainly } from './plain-path.ts';
import { type ExpressionProblem, type Finding, problemAt } from './problem.ts';
import { STATEMENT_WORDS } from './refusal.ts';

export type { ExpressionProblem } from './problem.ts';

/** `pipeline` also reads names with hyphens and indexes after a dot, and is null-safe. */
export type Dialect = 'javascript' | 'pipeline';

export type ParseResult =
  | { readonly ok: true; readonly expr: Expr }
  | { readonly ok: false; readonly problems: ExpressionProblem[] };

const MAX_SOURCE_LENGTH = 10_000;

/** `module` for strict mode and no HTML comments; parentheses are kept because they end a `?.` chain. */
const OPTIONS: Options = {
  ecmaVersion: 2024,
  sourceType: 'module',
  preserveParens: true,
  allowAwaitOutsideFunction: true,
};

export function parseExpression(
  source: string,
  { roots, dialect }: { roots: readonly string[]; dialect: Dialect },
): ParseResult {
  const tooEarly = checkText(source);
  if (tooEarly) return { ok: false, problems: [problemAt(source, 0, source.length, tooEarly)] };
  const plain = dialect === 'pipeline' && namesHeaderInUpperCase(source) ? null : readPlainly(source, roots);
  if (plain !== null) return { ok: true, expr: dialect === 'pipeline' ? { op: 'pipeline', body: plain } : plain };
  const rewritten =
    dialect === 'pipeline'
      ? rewritePipelinePaths(source, knownNames(roots))
      : { text: source, originalOffset: (at: number) => at };
  const parsed = parseText(source, rewritten);
  if (!parsed.ok) return { ok: false, problems: [parsed.problem] };
  const problems: ExpressionProblem[] = [];
  const span = (node: { start: number; end: number }) => ({
    start: rewritten.originalOffset(node.start),
    end: rewritten.originalOffset(node.end),
  });
  const expr = convertExpression(parsed.node, {
    roots,
    span,
    report: (node, finding) => {
      const { start, end } = span(node);
      problems.push(problemAt(source, start, end, withHyphenHint(source, start, end, finding)));
    },
  });
  if (problems.length > 0) return { ok: false, problems };
  const whole: Expr = dialect === 'pipeline' ? { op: 'pipeline', body: expr } : expr;
  if (heightOf(whole) <= MAX_NESTING) return { ok: true, expr: whole };
  return { ok: false, problems: [problemAt(source, 0, source.length, NESTED_TOO_DEEP)] };
}

function knownNames(roots: readonly string[]): ReadonlySet<string> {
  return new Set([...roots, ...NAMESPACES, ...FUNCTIONS.keys(), ...WORDS]);
}

/** Of the language itself. */
const WORDS = ['true', 'false', 'null', 'undefined', 'NaN', 'Infinity', 'typeof'];

/** `context.data.get-item` reads as `context.data.get` minus `item`. */
function withHyphenHint(source: string, start: number, end: number, finding: Finding): Finding {
  const before = /[\w$-]+-$/.exec(source.slice(0, start))?.[0];
  if (finding.code !== 'UNKNOWN_NAME' || before === undefined) return finding;
  return { ...finding, hint: hyphenHint(before + source.slice(start, end)) };
}

const hyphenHint = (name: string): string => `a name with a hyphen is written \`['${name}']\``;

function checkText(source: string): Finding | undefined {
  if (source.length > MAX_SOURCE_LENGTH) {
    return {
      code: 'TOO_LONG',
      message: `An expression can have at most ${MAX_SOURCE_LENGTH} characters; this one has ${source.length}`,
    };
  }
  if (source.trim() === '') return { code: 'EMPTY', message: 'The expression is empty' };
  return checkStatement(source);
}

/** `import(…)` and `import.meta` are expressions, and refused as such. */
function checkStatement(source: string): Finding | undefined {
  const word = /^\s*(?!import\s*[(.])([a-z]+)\b/.exec(source)?.[1];
  if (word === undefined || !STATEMENT_WORDS.has(word)) return undefined;
  return {
    code: 'SYNTAX',
    message: `\`${word}\` is a statement; conditions and templates are expressions`,
    hint: 'write what the value is, e.g. `a ? b : c`',
  };
}

type ParsedText = { ok: true; node: Expression } | { ok: false; problem: ExpressionProblem };

/** One expression, and nothing after it. */
function parseText(source: string, { text, originalOffset }: RewrittenSource): ParsedText {
  try {
    const node = parseExpressionAt(text, 0, OPTIONS);
    // Nearly always nothing follows, and a second tokenizer costs as much as the parse.
    if (node.end === text.length || text.slice(node.end).trim() === '') return { ok: true, node };
    // Blanks in place of the expression keep the offsets.
    const next = tokenizer(' '.repeat(node.end) + text.slice(node.end), OPTIONS).getToken();
    if (next.type.label === 'eof') return { ok: true, node };
    const [start, end] = [originalOffset(next.start), originalOffset(next.end)];
    return { ok: false, problem: problemAt(source, start, end, afterEnd(source.slice(start, end))) };
  } catch (error) {
    return { ok: false, problem: syntaxProblem(source, error, originalOffset) };
  }
}

function afterEnd(found: string): Finding {
  const hint = found === ';' ? 'leave out the `;`' : undefined;
  return { code: 'SYNTAX', message: `The expression should end before \`${found}\``, hint };
}

const INCOMPLETE: Finding = { code: 'SYNTAX', message: 'The expression is not complete' };

/** acorn throws a SyntaxError with a position, also when very deep input exhausts the stack. */
function syntaxProblem(source: string, error: unknown, originalOffset: (offset: number) => number): ExpressionProblem {
  const { message, pos } = error as SyntaxError & { pos: number };
  const isTooDeep = !(error instanceof SyntaxError) || message.startsWith('Not enough stack');
  if (isTooDeep) return problemAt(source, 0, source.length, NESTED_TOO_DEEP);
  const start = originalOffset(pos);
  if (start >= source.length) return problemAt(source, start, start, INCOMPLETE);
  const found = {
    code: 'SYNTAX' as const,
    message: message.replace(/ \(\d+:\d+\)$/, ''),
    hint: hintFor(message, source, start),
  };
  return problemAt(source, start, start + 1, found);
}

function hintFor(message: string, source: string, at: number): string | undefined {
  if (message.startsWith('Assigning')) return 'did you mean `===`?';
  if (!message.startsWith('Identifier directly after number')) return undefined;
  // `context.data.step-1.v` reads as `context.data.step` minus `1.`, and then a name; of `step-1b` the number ends within the name.
  const before = /\.([A-Za-z_$][\w$]*-[\w$-]*)(\.?)$/.exec(source.slice(0, at));
  if (before === null) return undefined;
  const rest = before[2] === '.' ? '' : /^[\w$-]*/.exec(source.slice(at))![0];
  return hyphenHint(before[1] + rest);
}
