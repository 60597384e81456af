// Whether a trigger may start its workflow: its activation condition and, for event triggers, its filter. Both are expressions
// over `trigger` as the execution would see it; a filter also sees the `event`. A failing expression is false, with a reason.
// Limits bound one evaluation, but an event may have to pass thousands of filters, so the event loop gets a turn in between (S4).

import { RecentCache } from '../core/cache/recent-cache.ts';
import type { Measure } from '../core/decider/input.ts';
import type { Expr } from '../core/expression/ast.ts';
import { evaluateCondition } from '../core/expression/evaluate.ts';
import type { Limits, Scope } from '../core/expression/evaluation.ts';
import { type ParseResult, parseExpression } from '../core/expression/parse.ts';
import type { Problem } from '../core/problem/problem.ts';

export type Verdict = { readonly holds: true } | { readonly holds: false; readonly reason: string; failed: boolean };

const ROOTS = { condition: ['trigger'], filter: ['trigger', 'event'] } as const;
export type ExpressionKind = keyof typeof ROOTS;

const NAMES = { condition: 'the activation condition', filter: 'the filter' } as const;

export function expressionProblems(kind: ExpressionKind, source: string, format: string, path: string): Problem[] {
  const parsed = parse(kind, source, format);
  if (parsed.ok) return [];
  return parsed.problems.map(({ message, hint, line, column }) => ({
    code: 'BAD_CONDITION',
    path,
    message,
    line,
    column,
    ...(hint === undefined ? {} : { suggestion: hint }),
  }));
}

export interface JudgeOptions {
  /** Limits of one evaluation; absent: the defaults. */
  readonly limits?: Limits | undefined;
  /** Called with the duration of conditions. */
  readonly measure?: Measure | undefined;
}

const PARSED_BYTES = 32 * 1024 * 1024;
/** Estimated bytes of a parsed expression per source character. */
const BYTES_PER_CHARACTER = 60;
/** How long expressions are evaluated before the event loop gets a turn. */
const STRETCH_MS = 10;

export class Judge {
  private readonly limits: Limits | undefined;
  private readonly measure: Measure;
  /** Parsed expressions: an event may have to pass the filters of a thousand triggers. */
  private readonly parsed = new RecentCache<ParseResult>(PARSED_BYTES);
  private usedMs = 0;
  private resting: Promise<void> | null = null;

  constructor({ limits, measure = (_what, work) => work() }: JudgeOptions = {}) {
    this.limits = limits;
    this.measure = measure;
  }

  async verdict(kind: ExpressionKind, source: string, format: string, scope: Scope): Promise<Verdict> {
    while (this.usedMs >= STRETCH_MS) await this.rest();
    const startedAt = performance.now();
    try {
      return this.judge(kind, source, format, scope);
    } finally {
      this.usedMs += performance.now() - startedAt;
    }
  }

  /** null: the filter cannot be read. */
  filterExpression(source: string, format: string): Expr | null {
    const parsed = this.parse('filter', source, format);
    return parsed.ok ? parsed.expr : null;
  }

  private judge(kind: ExpressionKind, source: string, format: string, scope: Scope): Verdict {
    const parsed = this.parse(kind, source, format);
    if (!parsed.ok) return failed(kind, parsed.problems[0]!.message);
    const { value, warning } = this.measure('condition', () => evaluateCondition(parsed.expr, scope, this.limits));
    if (value) return { holds: true };
    return warning === undefined
      ? { holds: false, reason: `${NAMES[kind]} is false`, failed: false }
      : failed(kind, warning);
  }

  private parse(kind: ExpressionKind, source: string, format: string): ParseResult {
    const key = `${kind} ${format === 'pipeline'} ${source}`;
    const known = this.parsed.get(key);
    if (known !== undefined) return known;
    const result = parse(kind, source, format);
    this.parsed.set(key, result, source.length * BYTES_PER_CHARACTER);
    return result;
  }

  private rest(): Promise<void> {
    this.resting ??= new Promise((resolve) => {
      setImmediate(() => {
        this.usedMs = 0;
        this.resting = null;
        resolve();
      });
    });
    return this.resting;
  }
}

const failed = (kind: ExpressionKind, why: string): Verdict => ({
  holds: false,
  reason: `${NAMES[kind]} could not be evaluated: ${why}`,
  failed: true,
});

/** Pipelines have their own dialect: null-safe paths, names with hyphens. */
function parse(kind: ExpressionKind, source: string, format: string): ParseResult {
  return parseExpression(source, { roots: ROOTS[kind], dialect: format === 'pipeline' ? 'pipeline' : 'javascript' });
}
